package cli

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
)

// The defaults for the offline model: with the default N, breadth and calls in flight, a run of about twenty seconds.
const (
	offlineT       = 64
	offlineLatency = 8 * time.Millisecond
)

// DefaultEvalTimeout is the default of --eval-timeout, for runs and workers.
const DefaultEvalTimeout = 10 * time.Second

// treeTimeout is the default of --eval-timeout for a step of a tree: a first build takes minutes.
const treeTimeout = 5 * time.Minute

// Options are the flags that all searches share.
type Options struct {
	Task         string
	Cases        string
	Prompt       words
	Operators    words
	Scorer       string
	Runtime      string
	Hints        bool
	Show         parts // the most tokens of each part of prompts
	Minibatches  bool  // the search has the parent answer train cases before each rewrite, so its score needs none
	Model        string
	ModelName    string
	ActiveParams counts
	APIBase      string
	Stream       bool
	Stalls       openai.Stream
	Timeout      time.Duration
	Outage       time.Duration
	Latency      time.Duration
	T, N         int
	Breadth      string
	Second       float64
	Strict       bool // whether ties keep the parent
	ParallelLLM  int
	ParallelEval int
	EvalTimeout  time.Duration
	EvalCPU      time.Duration // processor time of one evaluation in JavaScript; 0 means EvalTimeout
	MaxStalls    int
	Output       string
	Journal      string
	Resume       bool
	salvage      bool
	better       bool // whether steps go by better children alone, as those of a run that was begun so
	cautious     bool // the same of challenge
	paper        bool // whether requests are those of a run that was begun with the paper's sampling
	Unsafe       bool // whether the journal may be where nothing is locked or synced
	Anew         bool
	Temperature  float64
	MaxTokens    int
	TopP         float64
	Effort       string // reasoning effort
	headers      headers
	omit         words  // fields that are not sent
	Extra        fields // further fields of requests
	Grace        time.Duration
	Watch        Watch
	NATS         NATS           // only for commands that register its flags
	Workers      func() Workers // the current workers; nil if this process scores. Package remote sets it.

	Tree   Tree
	budget Budget
	folder folderLLM
	letIn  letIn
	prices string // as given
	auto   bool   // whether --resume begins a run that is not there
	copied string // the journal, if it is the copy of that of a run with a smaller --T

	given   map[string]bool // the flags that were given, by name
	command string          // the command's name
	args    []string        // all of its arguments
}

// Register adds the flags to fs.
func (o *Options) Register(fs *flag.FlagSet) {
	o.RegisterShared(fs)
	fs.IntVar(&o.T, "T", 0,
		fmt.Sprintf("the budget is T·N answers of the model (default 8; %d with the offline model)\n"+
			"With --breadth fixed that is T rounds, if every call is answered; a call that brings no answer is "+
			"made up for in another round. With another breadth there are more and narrower rounds, as many as "+
			"T·N answers last for.", offlineT))
	fs.IntVar(&o.N, "N", evolve.DefaultN, "most children in a generation; with --breadth fixed the children in each")
	o.registerBreadth(fs)
	fs.StringVar(&o.Journal, "journal", "",
		"`file` that makes the run durable (default: beside the result)\n"+
			"With \"\" there is none, and a run that is stopped or killed is lost.")
	o.budget.register(fs)
	o.folder.register(fs)
	fs.BoolVar(&o.Strict, "strict", false, "keep the parent where a child scores the same, and take the first program of a "+
		"reply, as the paper's searches do\n(default: the child takes its place, and the last whole program counts)")
	fs.BoolVar(&o.Unsafe, "journal-unsafe", false, "have a journal also on a file system without locks or fsync")
	fs.BoolFunc("resume", "go on with the journal of a run that was stopped or killed, or ended by a smaller budget\n"+
		"--resume=auto begins the run if there is none.", o.setResume)
	fs.BoolVar(&o.salvage, "salvage", false,
		"with --resume: go on from what is sound of a damaged journal, and keep the damaged file")
	o.NATS.Register(fs)
	fs.BoolVar(&o.Anew, "anew", false,
		"begin anew though there is a journal\n"+
			"What the earlier run left is kept under other names.")
}

// setResume takes the value of --resume.
func (o *Options) setResume(text string) (err error) {
	if o.auto = text == "auto"; o.auto {
		o.Resume = true
		return nil
	}
	o.Resume, err = strconv.ParseBool(text)
	return err
}

// RegisterShared adds to fs the flags that runs of any kind share: on the task, the model and the pace.
func (o *Options) RegisterShared(fs *flag.FlagSet) {
	o.registerTask(fs)
	o.registerModel(fs)
	o.registerPace(fs)
	o.Watch.Register(fs)
}

// registerTask adds the flags for the task.
func (o *Options) registerTask(fs *flag.FlagSet) {
	fs.StringVar(&o.Task, "task", "cp",
		"what to improve: "+strings.Join(taskKeys(), ", ")+"; or a `folder`\n"+
			"The folder has an initial_program and an evaluator.py.")
	o.Tree.register(fs)
	fs.StringVar(&o.Cases, "cases", "",
		"with --task text: a `file` of cases (default: the built-in ones)\n"+
			"A case is a JSON object on a line, with input, want, id and set.")
	fs.Var(&o.Prompt, "prompt", "a `file` with what the model is asked for; of several a bandit draws one for each child\n"+
		"With --task text it has the prompt to begin with.")
	fs.Var(&o.Operators, "operators", "what the model is asked for: `NAME`,... of which a bandit draws one for each child\n"+
		"Names are "+strings.Join(slices.Sorted(maps.Keys(operators)), ", ")+".")
	fs.StringVar(&o.Scorer, "scorer", "",
		"with --cases: a `folder` with an evaluator.py that scores replies\n"+
			"It scores a JSON file of input, want and reply; the prompt to begin with is initial_program.txt. "+
			"Without it a reply has 1 if it is what the case wants, else 0.")
	fs.BoolVar(&o.Hints, "hints", false,
		"show in prompts what can be seen in the text of a Python or Go program: temporaries, allocations in "+
			"loops, ...")
	fs.Var(&o.Show, "show",
		"`PART=TOKENS`,...: the most tokens of parts of prompts, 0 for none\n"+
			"Parts are "+strings.Join(task.ShowNames(), ", ")+". Attempts are shown by populations alone, if they are "+
			"asked for or the search has them.")
	fs.StringVar(&o.Runtime, "runtime", "js",
		"what runs the programs of the built-in tasks but text: js, built in; or python, with numpy")
	o.letIn.register(fs)
}

// registerModel adds the flags for the model and its sampling.
func (o *Options) registerModel(fs *flag.FlagSet) {
	fs.StringVar(&o.Model, "model", offline.Nominal().Key,
		"the model: "+strings.Join(modelKeys(), ", ")+"; or another one\n"+
			"Any other `key` needs --model-name and --params-active. Of several, separated by commas, a bandit "+
			"draws one for each child; with weights, a=0.8,b=0.2, each has its share. Stand-ins of a temper are "+
			"offline-small, offline-large and offline-splice.")
	fs.StringVar(&o.ModelName, "model-name", "",
		"what the endpoint calls the model, or each of several, separated by commas (default: by --model)")
	fs.Var(&o.ActiveParams, "params-active",
		"parameters that work on one token, for FLOPs; of several models separated by commas (default: by "+
			"--model)")
	fs.StringVar(&o.APIBase, "api-base", "",
		"`URL` of an OpenAI-compatible endpoint (default: $LLM_API_BASE; the key is $LLM_API_KEY)\n"+
			"Several replicas of the model are separated by commas; key=URL is an endpoint of one of several "+
			"models alone.")
	fs.BoolVar(&o.Stream, "stream", true,
		"stream answers, and end those that stall; --stream=false asks for them in one piece")
	fs.DurationVar(&o.Stalls.FirstToken, "first-token", openai.DefaultFirstToken,
		"limit for the first token of an answer that is streamed; negative means none")
	fs.DurationVar(&o.Stalls.Silence, "silence", openai.DefaultSilence,
		"limit for the time between tokens of one; negative means none")
	fs.Float64Var(&o.Stalls.MinRate, "min-rate", openai.DefaultMinRate,
		"tokens a second below which one has stalled; negative means none")
	fs.StringVar(&o.prices, "price", "",
		"US dollars for a million tokens of prompts, of their cached part, and of answers: 0.2,0.05,0.8\n"+
			"For several models give KEY=0.2,0.05,0.8 for each, separated by blanks.")
	fs.Float64Var(&o.Temperature, "temperature", 0,
		"how freely the model chooses its words, above 0 (default: the endpoint's; 0.4 with --strict)\n"+
			"0.01 is close to always taking the likeliest.")
	fs.IntVar(&o.MaxTokens, "max-tokens", 0,
		fmt.Sprintf("the most tokens of an answer (default %d)", llm.DefaultMaxTokens))
	fs.Float64Var(&o.TopP, "top-p", 0,
		"of which part of the likeliest words the model chooses, above 0 and up to 1 (default: the endpoint's; 0.95 "+
			"with --strict)")
	fs.StringVar(&o.Effort, "reasoning-effort", "",
		"how long the model may think: what its endpoint takes, such as low, medium or high (default: the endpoint's)")
	fs.Var(&o.headers, "header", "`'Name: value'` of a header of each request, once for each; $VARIABLES are filled in")
	fs.Var(&o.omit, "omit", "`FIELD`,... that requests never have, such as temperature,seed")
	fs.BoolFunc("max-completion-tokens",
		"send the most tokens of an answer as max_completion_tokens at once (default: when the endpoint refuses max_tokens)",
		func(string) error { o.omit = append(o.omit, "max_tokens"); return nil })
	fs.Var(&o.Extra, "extra",
		"further fields of each request, as a JSON `object`: '{\"chat_template_kwargs\": {\"enable_thinking\": false}}'")
}

// registerPace adds the flags for limits in parallel and in time, and for the folder of results.
func (o *Options) registerPace(fs *flag.FlagSet) {
	fs.DurationVar(&o.Timeout, "timeout", llm.DefaultTimeout, "limit for one attempt at a model call")
	fs.DurationVar(&o.Outage, "outage", 5*time.Minute,
		"how long calls wait for an endpoint that has answered before and is gone, as while it restarts; 0 for not at all")
	fs.DurationVar(&o.Latency, "offline-latency", offlineLatency,
		"how long the offline model takes for a call, so that a run can be watched")
	fs.IntVar(&o.MaxStalls, "max-stalls", 0,
		fmt.Sprintf("attempts that may time out or stall: more end the run (default: a tenth of the calls, at "+
			"least %d); negative means no limit", evolve.DefaultStalls))
	fs.IntVar(&o.ParallelLLM, "parallel-llm", 16, "model calls in flight")
	fs.IntVar(&o.ParallelEval, "parallel-eval", runtime.NumCPU(),
		"evaluations at once (default for --task text: as many as model calls)")
	fs.DurationVar(&o.EvalTimeout, "eval-timeout", DefaultEvalTimeout,
		fmt.Sprintf("limit for one evaluation; with --base for each of --test and --score (default there: %v); a folder's "+
			"own counts if this is not given", treeTimeout))
	fs.StringVar(&o.Output, "output", "results", "`folder` for results")
	fs.DurationVar(&o.Grace, "grace", 30*time.Second,
		"how long calls under way may go on after Ctrl-C; a second Ctrl-C ends at once")
}

// Given reports whether the flag of that name was given.
func (o *Options) Given(name string) bool { return o.given[name] }

// Parse reads args into fs, fills in the default number of rounds and checks it.
func (o *Options) Parse(fs *flag.FlagSet, args []string) error {
	if err := Parse(fs, args); err != nil {
		return err
	}
	if err := o.folder.take(o, fs); err != nil {
		return err
	}
	o.command, o.args = fs.Name(), args
	o.given = map[string]bool{}
	fs.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
	switch {
	case o.given["T"] && o.T < 1:
		return Usagef("--T is %d: need at least 1", o.T)
	case o.given["max-stalls"] && o.MaxStalls == 0:
		return Usagef("--max-stalls is 0: need at least 1, or less than 0 for no limit")
	case o.noJournal() && o.Resume:
		return Usagef(`--resume goes on with a journal, and --journal "" says that there is none`)
	case o.noJournal() && o.Watch.On:
		return Usagef(`--watch shows what a journal holds, and --journal "" says that there is none`)
	case o.salvage && !o.Resume:
		return Usagef("--salvage has no effect without --resume")
	case o.Resume && o.Anew:
		return Usagef("--resume goes on with a run and --anew begins another: give one of them")
	case o.Offline():
		o.T = cmp.Or(o.T, offlineT)
	}
	o.T = cmp.Or(o.T, 8)
	if o.Task == textKey && !o.given["parallel-eval"] { // its evaluations wait for a model
		o.ParallelEval = o.ParallelLLM
	}
	if o.IsTree() && !o.given["eval-timeout"] {
		o.EvalTimeout = treeTimeout
	}
	if err := o.checkTree(); err != nil {
		return err
	}
	return o.check()
}

// check refuses values that are out of range.
func (o *Options) check() error {
	for _, f := range []struct {
		name  string
		value int
	}{{"N", o.N}, {"parallel-llm", o.ParallelLLM}, {"parallel-eval", o.ParallelEval}} {
		if f.value < 1 {
			return Usagef("--%s is %d: need at least 1", f.name, f.value)
		}
	}
	switch {
	case o.N > evolve.MaxN:
		return Usagef("--N is %d: need at most %d", o.N, evolve.MaxN)
	case o.T > math.MaxInt/o.N:
		return Usagef("--T is %d: need at most %d for --N %d", o.T, math.MaxInt/o.N, o.N)
	case o.Timeout <= 0:
		return Usagef("--timeout is %v: need more than 0", o.Timeout)
	case o.Outage < 0:
		return Usagef("--outage is %v: need at least 0", o.Outage)
	case o.Latency < 0:
		return Usagef("--offline-latency is %v: need at least 0", o.Latency)
	case o.Given("temperature") && !(o.Temperature > 0 && o.Temperature <= 100):
		return Usagef("--temperature is %v: need more than 0; 0.01 is close to always taking the likeliest word",
			o.Temperature)
	case o.Given("top-p") && !(o.TopP > 0 && o.TopP <= 1):
		return Usagef("--top-p is %v: need more than 0, and at most 1", o.TopP)
	case o.Given("max-tokens") && o.MaxTokens < 1:
		return Usagef("--max-tokens is %d: need at least 1", o.MaxTokens)
	case o.Grace < 0:
		return Usagef("--grace is %v: need at least 0", o.Grace)
	case o.EvalTimeout <= 0:
		return Usagef("--eval-timeout is %v: need more than 0", o.EvalTimeout)
	}
	if err := o.checkText(); err != nil {
		return err
	}
	if err := o.letIn.check(o); err != nil {
		return err
	}
	if err := o.checkDescriptors(); err != nil {
		return err
	}
	if err := o.checkShow(); err != nil {
		return err
	}
	if err := o.checkNATS(); err != nil {
		return err
	}
	return o.checkModel()
}
