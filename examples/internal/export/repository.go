package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// vacant returns a [cli.UsageError] unless a new repository can be made at dir, which is not there or an empty folder.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &cli.UsageError{Err: err}
	case len(entries) > 0:
		return cli.Usagef("--into %s: the folder is not empty, and is left as it is: name another one", dir)
	}
	return nil
}

// repository writes the run as a new repository and says what it has. The repository is made beside its place and moved
// there when it is whole, so that nothing half made is left under its name.
func (o options) repository(ctx context.Context, stdout io.Writer, r *history.Lineage) error {
	into, err := filepath.Abs(o.into) // the scratch folder is beside it, also if it is the current one
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	parent := filepath.Dir(into)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return &cli.UsageError{Err: err}
	}
	scratch, err := os.MkdirTemp(parent, ".export-*")
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	made := filepath.Join(scratch, "repository") // made by git, with the mode that the user's folders have
	err = o.fill(ctx, made, r)
	if err == nil {
		err = move(made, into)
	}
	if err := errors.Join(err, os.RemoveAll(scratch)); err != nil {
		return err
	}
	o.say(stdout, r)
	return nil
}

// move renames a folder to a name that is free, or moves what it has into an empty folder. That one is kept: it may be
// the current folder of the user's shell.
func move(from, to string) error {
	if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(from, to)
	}
	entries, err := os.ReadDir(from)
	for _, e := range slices.Backward(entries) { // .git comes first, and is moved last
		err = errors.Join(err, os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
	}
	return err
}

// fill makes the repository.
func (o options) fill(ctx context.Context, dir string, r *history.Lineage) error {
	if err := git(ctx, nil, "init", "--quiet", dir); err != nil {
		return err
	}
	stream := func(w io.Writer) error { return r.WriteGit(w, o.file) }
	if o.base != "" {
		stream = func(w io.Writer) error { return r.WriteTrees(w, o.base) }
		if err := asTheyAre(dir); err != nil {
			return err
		}
	}
	err := git(ctx, stream, "-C", dir, "fast-import", "--quiet")
	if errors.Is(err, history.ErrNoProgram) || errors.Is(err, history.ErrBase) {
		return cli.Usagef("%w", err)
	}
	if err != nil {
		return err
	}
	after := [][]string{
		// fast-import compares a program with the one before it alone
		{"repack", "-a", "-d", "-f", "-q"},
		// a file for each candidate takes more room than the programs
		{"pack-refs", "--all"},
		{"config", "log.excludeDecoration", "refs/candidates/*"}, // the subjects have these names already
		{"symbolic-ref", "HEAD", "refs/heads/best"},              // git init has its own idea of a first branch
	}
	if r.Best() >= 0 { // the best program as a file, and no hook of the user's
		after = append(after, []string{"-c", "core.hooksPath=" + os.DevNull, "reset", "--quiet", "--hard"})
	}
	for _, args := range after {
		if err := git(ctx, nil, append([]string{"-C", dir}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

// asTheyAre has git check out files as they are, whatever the attributes in a tree say and whatever filters the user
// has.
func asTheyAre(dir string) error {
	info := filepath.Join(dir, ".git", "info")
	if err := os.MkdirAll(info, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(info, "attributes"), []byte("* -text -filter -ident -working-tree-encoding\n"),
		0o666)
}

// say says what the repository has, and how to look at it.
func (o options) say(stdout io.Writer, r *history.Lineage) {
	kept, left, merges := 0, 0, 0
	for _, c := range r.Candidates {
		switch {
		case c.Program == "":
			left++
			continue
		case len(c.Parents) > 1:
			merges++
		}
		kept++
	}
	fmt.Fprintf(stdout, "%s has %s, of which %d have several parents\n", o.into, count(kept, "candidate"), merges)
	if left > 0 {
		fmt.Fprintf(stdout, "%s without a program left out\n", count(left, "candidate"))
	}
	if o.base == "" && r.Base() != "" {
		fmt.Fprintln(stdout,
			"the programs are changes of a folder: with --base FOLDER commits have its files with the changes")
	}
	best := r.Best()
	if best < 0 {
		fmt.Fprintln(stdout, "none is valid, so there is no branch best")
		return
	}
	c := r.Candidates[best]
	fmt.Fprintf(stdout, "best: %s with score %g, the last of %d on its line\n\n", c.Name(), c.Score, len(r.Line(best)))
	commands := []string{"log --graph --oneline best", "log --graph --oneline --all", "show candidates/" + c.Name()}
	if o.base != "" {
		commands = append(commands, "diff base best")
	}
	for _, args := range commands {
		fmt.Fprintf(stdout, "  git -C %s %s\n", cli.Quote(o.into), args)
	}
}

// count returns n things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// git runs git, with what input writes as its standard input.
func git(ctx context.Context, input func(io.Writer) error, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	// In a hook of another repository these variables would name that one.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	var said strings.Builder
	cmd.Stderr = &said
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return cli.Usagef("--format git needs git 2.10 or later: %w", err)
	}
	if err != nil {
		return err
	}
	if input != nil {
		err = input(stdin)
	}
	stdin.Close() // git has read all, or has ended, which Wait says better
	if bad := cmd.Wait(); bad != nil {
		// If git ended early, that is also why its input could not be written.
		return errors.Join(ctx.Err(),
			fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), bad, printable.Line(said.String())))
	}
	return err
}
