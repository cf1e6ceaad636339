package sweep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/internal/wal"
)

// holdFolder locks a folder for this process until release is called. The journals are locked too, but each only while
// its run is made: a second sweep would begin other runs of the same plan, and then collide with the first. The lock is
// an empty file that stays in the folder.
func holdFolder(dir string) (release func() error, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	path := filepath.Join(dir, ".sweep")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	l, _, err := wal.Open(path, func(wal.Entry) error { return nil })
	if errors.Is(err, wal.ErrLocked) {
		return nil, fmt.Errorf("sweep: the folder %s: %w: wait until that sweep is over, or sweep in another folder",
			dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("sweep: %s: %w", path, err)
	}
	return l.Close, nil
}
