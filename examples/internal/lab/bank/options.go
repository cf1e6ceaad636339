package bank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/lab/tasks"
	"github.com/evoalloc/evoalloc/examples/internal/open"
	"github.com/evoalloc/evoalloc/examples/internal/remote"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/geometry"
)

// options are the flags.
type options struct {
	task                string
	n, rounds, searches int
	seed                uint64
	path                string
	model, base         string
	parallel, inFlight  int
	nats                cli.NATS
}

func (o *options) parse(args []string) error {
	var titles []string
	for _, k := range tasks.All() {
		titles = append(titles, fmt.Sprintf("%s is %s", k.Key, k.Title))
	}
	fs := cli.NewFlags("bank",
		"[flags]: record greedy searches of one task, for evoalloc policies --bank; the same command makes what is missing",
		"task", "N", "T", "searches", "seed", "out", "model", "api-base", "parallel", "parallel-llm", "nats", "config")
	fs.StringVar(&o.task, "task", "cp",
		"what is searched: "+strings.Join(tasks.Keys(), ", ")+"\n"+strings.Join(titles, "; ")+".")
	fs.IntVar(&o.n, "N", 1, "children in a generation")
	fs.IntVar(&o.rounds, "T", 256, "generations of a search")
	fs.IntVar(&o.searches, "searches", 8, "how many searches")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the first search, up to 2^32-1; the others follow")
	fs.StringVar(&o.path, "out", "", "file for the bank (default: results/banks/TASK-N1.json, with the task and N)")
	fs.StringVar(&o.model, "model", "",
		"what the endpoint calls the model (default: a stand-in without a network, which changes programs at random)")
	fs.StringVar(&o.base, "api-base", "", "URL of the endpoint, or of several replicas of the model, separated by "+
		"commas (default: $LLM_API_BASE; the key is $LLM_API_KEY)")
	fs.IntVar(&o.parallel, "parallel",
		runtime.GOMAXPROCS(0), "searches, and without --nats evaluations, under way at once")
	fs.IntVar(&o.inFlight, "parallel-llm", 16, "model calls in flight")
	o.nats.Register(fs)
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	o.path = cmp.Or(o.path, filepath.Join("results", "banks", fmt.Sprintf("%s-N%d.json", o.task, o.n)))
	return o.check()
}

// check finds values that are out of range.
func (o *options) check() error {
	for _, f := range []struct {
		name  string
		value int
	}{{"N", o.n}, {"T", o.rounds}, {"searches", o.searches}, {"parallel", o.parallel}, {"parallel-llm", o.inFlight}} {
		if f.value < 1 {
			return cli.Usagef("bank: --%s is %d: need at least 1", f.name, f.value)
		}
	}
	switch {
	case !slices.Contains(tasks.Keys(), o.task):
		return cli.Usagef("bank: unknown task %q: it is one of %s", o.task, strings.Join(tasks.Keys(), ", "))
	case o.n > evolve.MaxN:
		return cli.Usagef("bank: --N is %d: need at most %d", o.n, evolve.MaxN)
	case o.seed > math.MaxUint32 || uint64(o.searches)-1 > math.MaxUint32-o.seed:
		return cli.Usagef("bank: --seed is %d: need at most %d for all of %d searches", o.seed, uint32(math.MaxUint32),
			o.searches)
	case o.nats.URL != "" && !slices.Contains(served(), o.task):
		return cli.Usagef("bank: --nats has no use for --task %s: evoalloc worker serves %s",
			o.task, strings.Join(served(), ", "))
	case o.model == "" && o.base != "":
		return cli.Usagef("bank: --api-base has no effect without --model")
	}
	return nil
}

// served returns the tasks that the command worker has too. The others are the laboratory's, and scored in
// microseconds.
func served() (keys []string) {
	for _, p := range geometry.Problems() {
		keys = append(keys, p.Key)
	}
	return keys
}

// newTask returns the task, the model that stands in where none is named, and what ends the task.
func (o *options) newTask(ctx context.Context) (t task.Task, standIn llm.LLM, end func(), err error) {
	k := tasks.All()[slices.Index(tasks.Keys(), o.task)]
	if t, standIn, err = k.Make(); err != nil {
		return nil, nil, nil, err
	}
	if o.nats.URL == "" {
		return task.WithEvaluator(t, eval.Limit(t, o.parallel)), standIn, func() {}, nil
	}
	t, end, err = o.queued(ctx)
	return t, standIn, end, err
}

// queued returns the task as the command worker opens it without other flags. Such workers score its programs.
func (o *options) queued(ctx context.Context) (task.Task, func(), error) {
	as := cli.Options{Task: o.task, Runtime: "js", EvalTimeout: cli.DefaultEvalTimeout, NATS: o.nats}
	t, end, err := open.Task(ctx, &as)
	if err != nil {
		return nil, nil, err
	}
	scorer, leave, err := remote.Evaluator(ctx, &as, t)
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return task.WithEvaluator(t, scorer), func() { leave(); end() }, nil
}

// newModel returns the model that the flags name, or the stand-in.
func (o *options) newModel(standIn llm.LLM) (llm.LLM, error) {
	if o.model == "" {
		return standIn, nil
	}
	client, err := cli.Endpoints(o.base, o.inFlight, func(base string) (llm.LLM, error) {
		return openai.New(openai.Config{BaseURL: base, Model: llm.Model{Key: o.model, Name: o.model}})
	})
	if err != nil {
		return nil, err
	}
	return llm.Retry(llm.Limit(client, o.inFlight), llm.RetryConfig{}), nil
}

// made says how the searches of the bank were made. It is the same for searches that belong together.
func (o *options) made() string { // as in files of earlier versions
	if o.model == "" {
		return "examples/bank: greedy searches with a stand-in model"
	}
	return "examples/bank: greedy searches with " + o.model
}
