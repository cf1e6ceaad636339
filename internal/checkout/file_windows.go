package checkout

import "io/fs"

const dontWait = 0

// HardLinks returns 1: the number of a file's names is not known here.
func HardLinks(fs.FileInfo) uint64 { return 1 }
