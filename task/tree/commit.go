package tree

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// Checkout writes the files of a commit to dir, which must be missing or empty, for [Config.Base] and the Base of a
// command.Config. repository is a folder in a git repository, of which the commit's files below that folder are taken.
// The repository stays as it is. Checkout runs the command git with none of what the repository configures: no hooks,
// filters or monitors. Submodules are empty folders.
func Checkout(ctx context.Context, repository, commit, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	switch entries, err := os.ReadDir(dir); {
	case err != nil:
		return fmt.Errorf("tree: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("tree: %s is not empty: need a new folder for the files of a commit", dir)
	}
	scratch, err := os.MkdirTemp("", "evoalloc-index-")
	if err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	defer os.RemoveAll(scratch)
	g := git{ctx, append(plainEnviron(), "GIT_INDEX_FILE="+filepath.Join(scratch, "index"))}
	hash, err := g.run(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return fmt.Errorf("tree: %s has no commit %q: %w", repository, commit, err)
	}
	prefix, err := g.run(repository, "rev-parse", "--show-prefix")
	if err != nil {
		return err
	}
	objects, err := g.run(repository, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	format, err := g.run(repository, "rev-parse", "--show-object-format")
	if err != nil {
		return err
	}
	// A repository of its own that reads the other's objects has none of its configuration.
	g.env = append(g.env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+objects)
	own := filepath.Join(scratch, "git")
	if _, err := g.run(dir, "init", "--quiet", "--bare", "--template=", "--object-format="+format, own); err != nil {
		return err
	}
	in := []string{"--git-dir=" + own, "--work-tree=."}
	if _, err := g.run(dir, append(in, "read-tree", hash+":"+prefix)...); err != nil {
		return err
	}
	_, err = g.run(dir, append(in, "checkout-index", "--all", "--quiet")...)
	return err
}

// A git runs the command git in an environment.
type git struct {
	ctx context.Context
	env []string
}

// plainEnviron is this process's environment without what names another repository, as it does in a hook.
func plainEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
}

// run returns the line that a command prints.
func (g git) run(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(g.ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, g.env
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("tree: git %s: %w: %s", args[0], err, printable.Line(said.String()))
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
