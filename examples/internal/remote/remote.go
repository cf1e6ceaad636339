// Package remote has programs scored by workers on other machines, as --nats says.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/folder"
)

// Evaluator returns what scores the programs of t: t itself, or workers where --nats is given. leave is to be called when
// the run is over.
func Evaluator(ctx context.Context, o *cli.Options, t task.Task) (e eval.Evaluator, leave func(), err error) {
	if o.NATS.URL == "" {
		return t, func() {}, nil
	}
	id, err := Task(ctx, o, t)
	if err != nil {
		return nil, nil, err
	}
	server, end := Server(o), func() error { return nil }
	var unserved time.Duration
	if o.NATS.URL == cli.Embedded {
		unserved = time.Minute // its worker is on its way, however busy the machine
		if server, end, err = here(id, t); err != nil {
			return nil, nil, err
		}
	}
	scorer, err := nats.New(ctx, nats.Config{Server: server, Task: id, InFlight: o.ParallelEval, Unserved: unserved})
	if err != nil {
		return nil, nil, errors.Join(&cli.UsageError{Err: err}, end())
	}
	cli.Printf("programs are scored by workers of the task %v at %s\n", id, server.URL)
	return scorer, func() {
		s := scorer.Stats()
		cli.Printf("workers: %d with %d slots at the end; %d evaluations, of them %d known before; %d jobs went to another worker\n",
			s.Workers, s.Slots, s.Done, s.Recalled, s.Redelivered)
		if err := errors.Join(scorer.Close(), end()); err != nil {
			cli.Printf("leaving the workers: %v\n", err)
		}
	}, nil
}

// Server returns the server that the flags name.
func Server(o *cli.Options) nats.Server {
	n := o.NATS
	return nats.Server{URL: n.URL, Prefix: n.Prefix, Credentials: n.Creds, NKey: n.NKey, CA: n.CA, Cert: n.Cert, Key: n.Key}
}

// here starts a server and a worker in this process. Its streams go with it: a run's journal has what was paid for.
func here(id nats.Task, t task.Task) (server nats.Server, end func() error, err error) {
	dir, err := os.MkdirTemp("", "evoalloc-nats-")
	if err != nil {
		return server, nil, err
	}
	s, err := embedded.Start(embedded.Config{Dir: dir})
	if err != nil {
		return server, nil, errors.Join(err, os.RemoveAll(dir))
	}
	server.URL = s.URL()
	w, err := nats.NewWorker(nats.WorkerConfig{Server: server, Task: id, Evaluator: t, Slots: runtime.NumCPU()})
	if err != nil {
		return server, nil, errors.Join(err, s.Close(), os.RemoveAll(dir))
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	return server, func() error {
		cancel()
		return errors.Join(<-ended, s.Close(), os.RemoveAll(dir))
	}, nil
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
