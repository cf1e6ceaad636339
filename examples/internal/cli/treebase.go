package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/task/tree"
)

// findBase returns the folder of --base. Of FOLDER@COMMIT it writes the commit's files to a folder of --output, which
// stays there for a report or an export of the run.
func (o *Options) findBase(ctx context.Context) (dir string, err error) {
	at := strings.LastIndexByte(o.Tree.base, '@')
	if _, err := os.Stat(o.Tree.base); err == nil || at < 0 {
		return o.Tree.base, nil
	}
	repository, commit := o.Tree.base[:at], o.Tree.base[at+1:]
	if repository, err = filepath.Abs(repository); err != nil {
		return "", err
	}
	all := filepath.Join(o.Output, "bases")
	if err := os.MkdirAll(all, 0o777); err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp(all, ".new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	made := filepath.Join(scratch, "files")
	if err := tree.Checkout(ctx, repository, commit, made); err != nil {
		return "", err
	}
	hash, err := patch.Walk(made, nil)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(all, hash, filepath.Base(repository)) // whose last name becomes the task's
	there, err := patch.Walk(dir, nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dir, errors.Join(os.MkdirAll(filepath.Dir(dir), 0o777), os.Rename(made, dir))
	case err == nil && there != hash:
		err = fmt.Errorf("%s had the files of the commit, and was changed: remove it", dir)
	}
	return dir, err
}
