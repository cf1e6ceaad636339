// Package command is an [llm.LLM] that is a command: it gets the prompt on its standard input and prints the reply on
// its standard output.
//
//	model, err := command.New(command.Config{
//		Args:  []string{"claude", "-p", "--output-format", "json"},
//		Parse: command.Claude,
//		Model: llm.Model{Key: "claude"},
//	})
//
// "ollama run MODEL", "llm -m MODEL" and scripts print the reply and nothing else, which is what Parse reads by
// default.
//
// Each Generate runs the command once and makes one attempt. If the command reports its usage, the attempt has it, and
// says that it is the command's own (Reported). Otherwise the attempt has no usage: Streamed is an estimate from the
// text, and a budget counts the most that the request allows.
//
// The command is trusted: it runs as this user, with no bounds but those of [Config]. Its process group is killed when
// it has ended, or when its time is up. A process that left the group goes on, and is not waited for.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/claim"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/internal/sandbox"
	"github.com/evoalloc/evoalloc/llm"
)

// A Config configures a [Command].
type Config struct {
	// Args are the command and its arguments, in which {seed}, {temperature}, {top_p} and {max_tokens} stand for those of
	// the request. The command is found in PATH.
	Args []string
	// Model has the Key and the Price of attempts, their Timeout, and the sampling where a request has none.
	Model llm.Model
	// Prompt makes the standard input. nil means [Prompt].
	Prompt func(llm.Request) (string, error)
	// Parse reads the standard output. nil means [Text].
	Parse Parse
	// Env holds further variables of the command, each as NAME=VALUE, or as NAME for this process's own. Without it the
	// command has the variables of this process but for those with KEY, TOKEN, SECRET, PASSW or CREDENTIAL in their names.
	Env []string
	// Dir is the command's working directory. "" means an empty one for each call.
	Dir string
	// MaxOutput bounds the standard output, in bytes; a command that prints more is killed. 0 means 8 MiB.
	MaxOutput int
}

// A Command is a model that is a command. It is safe for concurrent use, and runs as many commands as there are calls;
// see [llm.Limit].
type Command struct {
	cfg  Config
	path string
	plan *sandbox.Plan
}

var _ llm.LLM = (*Command)(nil)

// New finds the command, so that a missing one is reported before anything is asked.
func New(cfg Config) (*Command, error) {
	if len(cfg.Args) == 0 || cfg.Args[0] == "" {
		return nil, errors.New("command: Config.Args names no command")
	}
	path, err := exec.LookPath(cfg.Args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, fmt.Errorf("command: Config.Args: %w", err)
	}
	if cfg.MaxOutput < 0 || cfg.Model.Timeout < 0 {
		return nil, fmt.Errorf("command: MaxOutput %d, timeout %v: need at least 0", cfg.MaxOutput, cfg.Model.Timeout)
	}
	cfg.Args, cfg.Env = slices.Clone(cfg.Args), slices.Clone(cfg.Env)
	cfg.Model.Key = cmp.Or(cfg.Model.Key, cfg.Model.Name, filepath.Base(cfg.Args[0]))
	cfg.Model = cfg.Model.WithDefaults()
	cfg.MaxOutput = cmp.Or(cfg.MaxOutput, 8<<20)
	if cfg.Prompt == nil {
		cfg.Prompt = Prompt
	}
	if cfg.Parse == nil {
		cfg.Parse = Text
	}
	if cfg.Dir == "" {
		claim.Sweep(os.TempDir(), folderName, sandbox.Remove) // those of killed processes
	}
	plan, err := sandbox.NewPlan(isolation.None, nil)
	if err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	return &Command{cfg, path, plan}, nil
}

// String names the command and the model.
func (c *Command) String() string {
	return fmt.Sprintf("command(%s, %v)", strings.Join(c.cfg.Args, " "), c.cfg.Model)
}

// Generate runs the command once. The attempt is in the reply even if there is an error, with the usage that the
// command reported before it failed.
func (c *Command) Generate(ctx context.Context, req llm.Request) (reply llm.Reply, err error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, fmt.Errorf("command: not run: %w", err)
	}
	input, err := c.cfg.Prompt(req)
	if err != nil {
		return llm.Reply{}, &llm.Error{Status: llm.Failed, Kind: llm.KindBadRequest, Endpoint: c.endpoint(), Err: err}
	}
	a := llm.Attempt{Status: llm.OK, MaxTokens: c.maxTokens(req), Model: c.cfg.Model.Key,
		ActiveParams: c.cfg.Model.ActiveParams, Endpoint: c.endpoint()}
	trace := llm.TraceOf(ctx)
	if err := trace.Send(c.cfg.Model.Key); err != nil {
		return llm.Reply{}, err
	}
	defer func() { trace.Ended(reply.Attempts) }()
	begin := time.Now()
	r := c.run(ctx, req, input)
	a.Latency, a.Unsent = time.Since(begin), r.unstarted
	out, bad := c.cfg.Parse(r.stdout)
	a.Usage, a.Money = out.report()
	a.Reported = a.Usage != nil || a.Money > 0
	if a.Usage == nil {
		a.Streamed = (len(out.Text) + 3) / 4
	}
	fail := r.failure(ctx, c.cfg, bad)
	if fail == nil {
		return llm.Reply{Text: out.Text, Attempts: []llm.Attempt{a}}, nil
	}
	fail.Endpoint = c.endpoint()
	a.Status, a.Kind, a.Err = fail.Status, fail.Kind, printable.Line(fail.Err.Error())
	if a.Unsent && a.Status == llm.Canceled {
		return llm.Reply{}, fail
	}
	return llm.Reply{Attempts: []llm.Attempt{a}}, fail
}

// Announces returns true, see [llm.Announces].
func (c *Command) Announces() bool { return true }

func (c *Command) endpoint() string { return filepath.Base(c.cfg.Args[0]) }

func (c *Command) maxTokens(req llm.Request) int {
	if req.MaxTokens != nil {
		return *req.MaxTokens
	}
	return c.cfg.Model.MaxTokens
}

// args returns the arguments for req.
func (c *Command) args(req llm.Request) []string {
	number := func(own *float64, model float64) string {
		if own != nil {
			model = *own
		}
		return strconv.FormatFloat(model, 'g', -1, 64)
	}
	fill := strings.NewReplacer(
		"{seed}", strconv.FormatUint(uint64(req.Seed), 10), "{max_tokens}", strconv.Itoa(c.maxTokens(req)),
		"{temperature}", number(req.Temperature, c.cfg.Model.Temperature), "{top_p}", number(req.TopP, c.cfg.Model.TopP),
	)
	args := make([]string, len(c.cfg.Args))
	for i, arg := range c.cfg.Args {
		args[i] = fill.Replace(arg)
	}
	return args
}

// Environ returns the environment of a program that must not see secrets: the variables of this process but for those
// with KEY, TOKEN, SECRET, PASSW or CREDENTIAL in their names, and then extra, each as NAME=VALUE, or as NAME for this
// process's own.
func Environ(extra []string) (env []string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !secretive(name) {
			env = append(env, v)
		}
	}
	for _, v := range extra {
		if value, ok := os.LookupEnv(v); ok && !strings.Contains(v, "=") {
			v += "=" + value
		}
		if strings.Contains(v, "=") {
			env = append(env, v)
		}
	}
	return env
}

func secretive(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}
