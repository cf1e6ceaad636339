package sandbox

import "os"

// empty removes what is in a folder, as far as the system lets it.
func empty(dir string) error { return os.RemoveAll(dir) }
