//go:build !linux

package notrun

import (
	"errors"
	"os"
)

func standardError(int) (*os.File, error) { return nil, errors.ErrUnsupported }
