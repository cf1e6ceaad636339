package sweep

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/sweep"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/examples/internal/peers"
	"github.com/evoalloc/evoalloc/examples/internal/standin"
	"github.com/evoalloc/evoalloc/llm"
)

// options is what the flags say.
type options struct {
	cli.Options
	tasks, methods  []string
	budgets, splits []int
	seed, seeds     uint64
	arms, atOnce    int
	stopWhen        []sweep.Comparison
	read            []string

	list  lists
	peers bool // a method is another system's search
	paper bool // failed calls are repeated as the paper does
}

// lists are flags as they were given.
type lists struct{ methods, budgets, splits, stopWhen, read string }

// parse reads the flags.
func parse(args []string) (*options, error) {
	var o options
	fs := cli.NewFlags("sweep",
		"[flags]: make a grid of runs over tasks, models, methods, budgets and seeds; the same command goes on",
		"task", "model", "api-base", "methods", "budgets", "splits", "seed", "seeds", "N", "n-arms", "stop-when",
		"price", "output", "watch", "config")
	o.register(fs)
	if err := o.Parse(fs, args); err != nil {
		return nil, err
	}
	o.tasks, o.methods, o.read = words(o.Task), words(o.list.methods), words(o.list.read)
	for _, key := range o.tasks {
		if err := o.NATS.Check(key); err != nil {
			return nil, err
		}
	}
	for _, f := range []func() error{o.parseNumbers, o.parseMethods, o.parseStopWhen} {
		if err := f(); err != nil {
			return nil, err
		}
	}
	return &o, nil
}

func (o *options) register(fs *flag.FlagSet) {
	o.RegisterShared(fs)
	o.NATS.Register(fs)
	for _, name := range []string{"task", "model"} {
		fs.Lookup(name).Usage += " Several are separated by commas."
	}
	output := fs.Lookup("output")
	output.DefValue = "results/sweep"
	o.Output = output.DefValue
	fs.StringVar(&o.list.methods, "methods", "greedy,ei",
		"how budgets are spent: greedy, policies of bandits, and populations\n"+
			"greedy is played with every number of children in --splits. Bandits over --n-arms greedy searches "+
			"are "+strings.Join(cli.PolicyKeys(), ", ")+"; populations are "+strings.Join(populations(), ", ")+
			".")
	fs.StringVar(&o.list.budgets, "budgets", "16,32,64,128", "numbers of model calls")
	fs.StringVar(&o.list.splits, "splits", "",
		"numbers of children in a generation of greedy search (default: all powers of two up to the largest "+
			"budget)")
	fs.Uint64Var(&o.seed, "seed", 40, "the first seed")
	fs.Uint64Var(&o.seeds, "seeds", 10, "how many seeds, one after the other")
	fs.IntVar(&o.N, "N", 16, "children in a generation of bandits and populations")
	fs.IntVar(&o.arms, "n-arms", 4, "searches of a bandit")
	fs.IntVar(&o.atOnce, "at-once", 0,
		fmt.Sprintf("the most runs under way at once (default %d; fewer are where they keep --parallel-llm and "+
			"--parallel-eval busy)", sweep.DefaultAtOnce))
	fs.StringVar(&o.list.stopWhen, "stop-when", "",
		"end the sweep when it is decided which of two methods wins more often\n"+
			"Give METHOD:N,METHOD:N,CALLS such as greedy:4,greedy:64,128; several are separated by blanks.")
	fs.BoolVar(&o.paper, "paper-retries", false,
		"repeat failed calls as the paper does: 5 s before each retry, whatever the endpoint asks for (default: "+
			"what it asks for in Retry-After, else 0.5 to 1 s, then twice that)")
	fs.StringVar(&o.list.read, "read", "",
		"result files, of this library or the paper's, whose runs are shown and written to runs.csv too; "+
			"separated by commas")
}

// retry says how failed calls are repeated.
func (o *options) retry() llm.RetryConfig {
	if o.paper {
		return llm.PaperRetry()
	}
	return llm.RetryConfig{Outage: o.Outage, Notice: cli.Notice}
}

// populations returns the methods that are populations: the peers but for the one that --methods greedy is.
func populations() []string {
	return slices.DeleteFunc(peers.Names(),
		func(name string) bool { return name == "greedy" || slices.Contains(cli.PolicyKeys(), name) })
}

// words returns the elements of a list that are separated by commas.
func words(list string) []string {
	if list == "" {
		return nil
	}
	all := strings.Split(list, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// parseNumbers reads the flags that are lists of numbers, and checks the others.
func (o *options) parseNumbers() (err error) {
	if o.budgets, err = numbers("budgets", o.list.budgets); err != nil {
		return err
	}
	if len(o.budgets) == 0 {
		return cli.Usagef("--budgets is empty: need numbers of calls such as 16,32,64,128")
	}
	if o.splits, err = numbers("splits", o.list.splits); err != nil {
		return err
	}
	if len(o.splits) == 0 {
		for _, m := range sweep.Splits(o.budgets...) {
			o.splits = append(o.splits, m.N)
		}
	}
	switch {
	case o.seeds < 1 || o.seed > math.MaxUint32 || o.seeds-1 > math.MaxUint32-o.seed:
		return cli.Usagef("--seeds is %d from --seed %d: need at least 1, and seeds up to %d",
			o.seeds, o.seed, uint32(math.MaxUint32))
	case o.arms < 2:
		return cli.Usagef("--n-arms is %d: need at least 2", o.arms)
	case o.atOnce < 0:
		return cli.Usagef("--at-once is %d: need at least 1, or 0 for the default", o.atOnce)
	}
	return nil
}

// numbers reads a list of whole numbers from 1.
func numbers(name, list string) ([]int, error) {
	var all []int
	for _, w := range words(list) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 {
			return nil, cli.Usagef("--%s is %q: %q is not a whole number of at least 1", name, list, w)
		}
		all = append(all, n)
	}
	return all, nil
}

// parseMethods checks the names of methods.
func (o *options) parseMethods() error {
	if len(o.methods) == 0 {
		return cli.Usagef("--methods is empty: name at least one, such as greedy")
	}
	for _, name := range o.methods {
		isPeer := slices.Contains(populations(), name)
		o.peers = o.peers || isPeer
		if !isPeer && name != "greedy" && !slices.Contains(cli.PolicyKeys(), name) {
			return cli.Usagef("unknown method %q: it is greedy, a policy (%s) or a population (%s)",
				name, strings.Join(cli.PolicyKeys(), ", "), strings.Join(populations(), ", "))
		}
	}
	return nil
}

// parseStopWhen reads the comparisons.
func (o *options) parseStopWhen() error {
	for text := range strings.FieldsSeq(o.list.stopWhen) {
		w := words(text)
		if len(w) != 3 {
			return badComparison(text)
		}
		a, okA := side(w[0])
		b, okB := side(w[1])
		calls, err := strconv.Atoi(w[2])
		if !okA || !okB || err != nil {
			return badComparison(text)
		}
		o.stopWhen = append(o.stopWhen, sweep.Comparison{A: a, B: b, Calls: calls})
	}
	return nil
}

func badComparison(text string) error {
	return cli.Usagef("--stop-when has %q: need METHOD:N,METHOD:N,CALLS such as greedy:4,greedy:64,128", text)
}

// side reads METHOD:N.
func side(text string) (sweep.Side, bool) {
	method, number, found := strings.Cut(text, ":")
	n, err := strconv.Atoi(number)
	return sweep.Side{Method: method, N: n}, found && err == nil
}

// newSeeds returns the seeds of the runs.
func (o *options) newSeeds() (seeds []uint32) {
	for i := range o.seeds {
		seeds = append(seeds, uint32(o.seed+i))
	}
	return seeds
}

// standIn returns what the offline model can do: more where populations are among the methods, whose parts it would
// ignore otherwise.
func (o *options) standIn() standin.Abilities {
	if o.peers {
		return standin.All()
	}
	return standin.Abilities{Prose: 1}
}
