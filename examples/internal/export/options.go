package export

import (
	"errors"
	"io"

	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// The values of --format.
const (
	asGit   = "git"
	asJSONL = "jsonl"
)

// options are the flags, and the journal after them.
type options struct {
	format, into, out, file, base string
	journal                       string
}

func parse(args []string) (o options, err error) {
	fs := cli.NewFlags("export",
		"[flags] JOURNAL: write which program came from which, as a git repository or as JSON Lines")
	fs.StringVar(&o.format, "format", asGit,
		"git: a repository with a commit for each candidate; jsonl: a JSON object a line for each candidate")
	fs.StringVar(&o.into, "into", "",
		"with --format git: the folder of the new repository, which must not exist or must be empty")
	fs.StringVar(&o.out, "o", "", "with --format jsonl: the file to write (default: standard output)")
	fs.StringVar(&o.file, "file", "",
		"with --format git: the name of the file that has the program (default: program, with the ending of the "+
			"best program beside the journal)")
	fs.StringVar(&o.base, "base", "",
		"with --format git: the `folder` that programs are changes of, if they are: commits have whole "+
			"trees then, and no --file")
	if o.journal, err = cli.ParseOne(fs, args, "a journal"); err != nil {
		return o, err
	}
	return o, o.validate()
}

func (o *options) validate() error {
	switch o.format {
	case asGit:
		if o.into == "" {
			return cli.Usagef("--format git: give --into, the folder of the repository")
		}
		if o.out != "" {
			return cli.Usagef("-o has no effect with --format git, which writes a repository: use --into")
		}
	case asJSONL:
		if o.into != "" || o.file != "" || o.base != "" {
			return cli.Usagef("--into, --file and --base have no effect with --format %s: use -o, or standard output", o.format)
		}
	default:
		return cli.Usagef("--format is %q: it is %s or %s", o.format, asGit, asJSONL)
	}
	if o.base != "" && o.file != "" {
		return cli.Usagef("--file has no effect with --base: commits have the files of the folder")
	}
	if o.format == asGit && o.file == "" {
		o.file = beside(o.journal)
	}
	// An empty run is refused for its file's name before it is refused for being empty.
	if err := new(history.Lineage).WriteGit(io.Discard, o.file); !errors.Is(err, history.ErrNoProgram) {
		return cli.Usagef("--file: %w", err)
	}
	return nil
}
