// Package export is the command export. It writes which candidates a run made, and from which others each was made,
// in forms that other tools read: a git repository with a commit for each candidate, or JSON Lines. It reads the
// journal that every example keeps beside its result, of a run that is over, was killed, or goes on.
//
//	evoalloc export --format git --into lineage results/bandit/cp/offline/NAME.journal
//	git -C lineage log --graph --oneline best
//	evoalloc export --format jsonl -o lineage.jsonl results/bandit/cp/offline/NAME.journal
//
// What a program of your own does is here: history.ReadLineage, and a method for each form.
package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/wal"
)

func Run(ctx context.Context, args []string, stdout io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.format == asGit {
		if err := vacant(o.into); err != nil {
			return err
		}
	}
	r, err := read(o)
	if err != nil {
		return err
	}
	if o.format == asJSONL {
		return o.write(stdout, r.WriteJSONL)
	}
	return o.repository(ctx, stdout, r)
}

// read returns the journal's run, the last if there are several.
func read(o options) (*history.Lineage, error) {
	l, err := history.ReadLineage(o.journal)
	var damage *wal.DamageError
	var unread *fs.PathError
	switch {
	case errors.As(err, &damage) && l != nil:
		fmt.Fprintf(cli.Stderr(), "%v: what stands before that is exported\n", err)
	case errors.As(err, &unread):
		return nil, &cli.UsageError{Err: err}
	case err != nil:
		return nil, err
	}
	switch {
	case l.Runs == 0:
		return nil, cli.Usagef("%s has no run yet", o.journal)
	case l.Runs > 1:
		fmt.Fprintf(cli.Stderr(), "%s has %d runs: the last is exported\n", o.journal, l.Runs)
	}
	return l, nil
}

// write writes to the file of -o, or prints. What is printed is cleaned piece by piece, so it is one piece: a character
// must not fall into two.
func (o options) write(stdout io.Writer, form func(io.Writer) error) error {
	var b bytes.Buffer
	if err := form(&b); err != nil {
		return err
	}
	if o.out != "" {
		return result.SaveFile(o.out, b.Bytes())
	}
	_, err := stdout.Write(b.Bytes())
	return err
}
