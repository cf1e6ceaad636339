//go:build !linux

package checkout

import (
	"io/fs"
	"os"
)

// There are no overlays on this system.

func isWhiteout(fs.FileInfo) bool { return false }
func isOpaque(*os.Root) bool      { return false }
