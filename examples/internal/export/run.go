// Package export is the command export. It writes which candidates a run made, and from which others each was made,
// in forms that other tools read: a git repository with a commit for each candidate, or JSON Lines. It reads the
// journal that every example keeps beside its result, of a run that is over, was killed, or goes on.
//
//	evoalloc export --format git --into lineage results/bandit/cp/offline/NAME.journal
//	git -C lineage log --graph --oneline best
//	evoalloc export --format jsonl -o lineage.jsonl results/bandit/cp/offline/NAME.journal
//
// What a program of your own does is here: lineage.Read, and a method for each form.
package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/lineage"
	"github.com/evoalloc/evoalloc/evolve/report"
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
func read(o options) (*lineage.Run, error) {
	runs, err := lineage.Read(o.journal)
	var damage *wal.DamageError
	if errors.As(err, &damage) {
		fmt.Fprintf(cli.Stderr(), "%v: what stands before that is exported\n", err)
		runs, err = readSound(o.journal)
	}
	var unread *fs.PathError
	switch {
	case errors.As(err, &unread):
		return nil, &cli.UsageError{Err: err}
	case err != nil:
		return nil, err
	case len(runs) == 0:
		return nil, cli.Usagef("%s has no run yet", o.journal)
	case len(runs) > 1:
		fmt.Fprintf(cli.Stderr(), "%s has %d runs: the last is exported\n", o.journal, len(runs))
	}
	return runs[len(runs)-1], nil
}

// readSound reads the runs of a damaged journal up to the damage.
func readSound(path string) (runs []*lineage.Run, err error) {
	dir, err := os.MkdirTemp("", "evoalloc-export-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	sound := filepath.Join(dir, filepath.Base(path))
	if _, _, err := journal.Salvage(path, sound); err != nil {
		return nil, err
	}
	return lineage.Read(sound)
}

// write writes to the file of -o, or prints. What is printed is cleaned piece by piece, so it is one piece: a character
// must not fall into two.
func (o options) write(stdout io.Writer, form func(io.Writer) error) error {
	var b bytes.Buffer
	if err := form(&b); err != nil {
		return err
	}
	if o.out != "" {
		return report.SaveFile(o.out, b.Bytes())
	}
	_, err := stdout.Write(b.Bytes())
	return err
}
