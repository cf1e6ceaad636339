package cli

import (
	"errors"
	"flag"
	"os"
	"runtime"
	"slices"
	"time"
)

// NATS holds the flags for the server through which programs are scored on other machines.
type NATS struct {
	URL, Creds, NKey, CA, Cert, Key string
}

// Embedded is the URL of a server in this process.
const Embedded = "embedded"

// jobsInFlight is the default of --parallel-eval: programs queued or under way.
const jobsInFlight = 256

// Register adds the flags of a run to fs.
func (n *NATS) Register(fs *flag.FlagSet) {
	n.register(fs, "score programs by workers (evoalloc worker) through the NATS server of this `URL`\n\"embedded\" "+
		"starts a server and a worker in this process.")
}

func (n *NATS) register(fs *flag.FlagSet, url string) {
	fs.StringVar(&n.URL, "nats", "", url)
	fs.StringVar(&n.Creds, "nats-creds", "", "credentials file")
	fs.StringVar(&n.NKey, "nats-nkey", "", "file with the seed of an NKey")
	fs.StringVar(&n.CA, "nats-ca", "", "certificates that the server's is checked by")
	fs.StringVar(&n.Cert, "nats-cert", "", "certificate to show the server")
	fs.StringVar(&n.Key, "nats-key", "", "its key")
}

// Secrets returns the files that hold credentials of the queue, which candidates must not read.
func (n *NATS) Secrets() []string {
	return slices.DeleteFunc([]string{n.Creds, n.NKey, n.Key}, func(path string) bool { return path == "" })
}

// RunName returns a name that the run keeps when it is resumed, on this machine and in this folder: its command. It is
// "" for a run without a journal, which cannot be resumed.
func (o *Options) RunName() string {
	if o.command == "" || o.noJournal() {
		return ""
	}
	host, _ := os.Hostname()
	return host + ": " + o.Recorded()
}

// checkNATS refuses what workers cannot do.
func (o *Options) checkNATS() error {
	if o.NATS.URL == "" {
		for _, name := range []string{"nats-creds", "nats-nkey", "nats-ca", "nats-cert", "nats-key"} {
			if o.given[name] {
				return Usagef("--%s has no effect without --nats", name)
			}
		}
		return nil
	}
	if !o.given["parallel-eval"] {
		o.ParallelEval = jobsInFlight
	}
	return o.NATS.Check(o.Task)
}

// Check refuses a task that workers cannot score.
func (n *NATS) Check(task string) error {
	if n.URL != "" && task == textKey {
		return Usagef("--nats has no use for --task %s: its evaluations ask the model, whose key stays on this machine",
			textKey)
	}
	return nil
}

// Worker holds the flags of the worker command.
type Worker struct {
	Options
	Canary
	Slots int
}

// ParseWorker reads the flags of the worker command.
func ParseWorker(args []string) (*Worker, error) {
	var w Worker
	fs := NewFlags("worker", "[flags]: score programs for runs on other machines, which name the same server and task",
		"nats", "nats-creds", "task", "runtime", "eval-timeout", "slots", "grace", "canary", "config")
	w.NATS.register(fs, "`URL` of the server, such as nats://10.0.0.1:4222\nSeveral of a cluster are separated by commas.")
	fs.StringVar(&w.Task, "task", "cp", "what is improved, as for the run: a built-in task or a folder")
	fs.StringVar(&w.Runtime, "runtime", "js",
		"what runs the programs of the built-in tasks, as for the run: js or python")
	fs.DurationVar(&w.EvalTimeout, "eval-timeout", DefaultEvalTimeout,
		"limit for one evaluation, as for the run; a folder's own counts if this is not given")
	fs.IntVar(&w.Slots, "slots", runtime.NumCPU(), "evaluations at once")
	fs.DurationVar(&w.Grace, "grace", 30*time.Second, "how long evaluations under way may go on after Ctrl-C")
	w.letIn.register(fs)
	w.Canary.register(fs, "the worker ends")
	if err := Parse(fs, args); err != nil {
		return nil, err
	}
	w.given = map[string]bool{}
	fs.Visit(func(f *flag.Flag) { w.given[f.Name] = true })
	w.ParallelEval = w.Slots
	switch {
	case w.NATS.URL == "" || w.NATS.URL == Embedded:
		return nil, Usagef("--nats is %q: a worker needs the URL of a server", w.NATS.URL)
	case w.Slots < 1:
		return nil, Usagef("--slots is %d: need at least 1", w.Slots)
	case w.EvalTimeout <= 0:
		return nil, Usagef("--eval-timeout is %v: need more than 0", w.EvalTimeout)
	}
	return &w, errors.Join(w.checkNATS(), w.letIn.check(&w.Options), w.Canary.check())
}
