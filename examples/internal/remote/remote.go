// Package remote has programs scored by workers on other machines, as --nats says.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/folder"
)

// Evaluator returns what scores the programs of t: t itself, or workers if --nats is given. Call leave when the run is
// over. A run of several tasks uses a [Queue].
func Evaluator(ctx context.Context, o *cli.Options, t task.Task) (e eval.Evaluator, leave func(), err error) {
	q, err := Open(o)
	if err != nil {
		return nil, nil, err
	}
	if e, err = q.Evaluator(ctx, o, t); err != nil {
		return nil, nil, errors.Join(err, q.close())
	}
	return e, q.Leave, nil
}

// Server returns the server that the flags name.
func Server(o *cli.Options) nats.Server {
	n := o.NATS
	return nats.Server{URL: n.URL, Credentials: n.Creds, NKey: n.NKey, CA: n.CA, Cert: n.Cert,
		Key: n.Key}
}

// Task returns the name and the digest of t, for runs and workers alike: of the folder's files, of the versions of what
// runs programs, and of the flags that decide scores.
func Task(ctx context.Context, o *cli.Options, t task.Task) (nats.Task, error) {
	versions := []string{"name " + t.Name(), "limit " + o.FolderTimeout().String(), "this " + version()}
	var files fs.FS
	interpreter := ""
	if f, ok := task.As[*folder.Task](t); ok {
		files, interpreter = os.DirFS(o.Task), f.Interpreter()
		versions = append(versions, "folder "+f.Fingerprint())
	} else {
		versions = append(versions, "runtime "+o.Runtime, "evaluation "+o.EvalTimeout.String())
		if o.Runtime == "python" {
			var err error
			if interpreter, err = python.Find(ctx, "numpy"); err != nil {
				return nats.Task{}, err
			}
		}
	}
	if interpreter != "" {
		v, err := pythonVersion(ctx, interpreter)
		if err != nil {
			return nats.Task{}, err
		}
		versions = append(versions, v)
	}
	digest, err := nats.Digest(files, versions...)
	return nats.Task{Name: t.Name(), Digest: digest}, err
}

// pythonVersion returns the versions of an interpreter and of the modules that programs mostly import.
func pythonVersion(ctx context.Context, interpreter string) (string, error) {
	const ask = `import sys
from importlib.metadata import version, PackageNotFoundError
print("python", sys.version)
for m in "numpy", "scipy":
    try: print(m, version(m))
    except PackageNotFoundError: pass`
	out, err := exec.CommandContext(ctx, interpreter, "-I", "-c", ask).Output()
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", interpreter, err)
	}
	return string(out), nil
}

// version returns that of this module and of the JavaScript engine, as far as the build tells.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	v := []string{}
	if !strings.HasSuffix(info.Main.Version, "+dirty") { // as "go run" and "go build" of one tree differ
		v = append(v, strings.TrimPrefix(info.Main.Version, "(devel)"))
	}
	for _, m := range info.Deps {
		if strings.HasPrefix(m.Path, "modernc.org/") {
			v = append(v, m.Path+" "+m.Version)
		}
	}
	return strings.Join(v, "\n")
}
