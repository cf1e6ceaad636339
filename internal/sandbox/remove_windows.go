package sandbox

import "os"

// empty removes the contents of a folder, as far as the system permits. It cannot be stopped.
func empty(_ <-chan struct{}, dir string) error { return os.RemoveAll(dir) }
