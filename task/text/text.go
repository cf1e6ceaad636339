// Package text has tasks whose programs are prompts. A target model answers cases by the prompt, and a Go function or
// an evaluator scores each reply.
//
//	t, err := text.New(text.Config{
//		Name: "shout", Initial: "Answer in one word.", Target: model,
//		Train: cases[:10], Validation: cases[10:30], HeldOut: cases[30:],
//		Score: text.Exact,
//	})
//
// # Which cases are used for what
//
// The three sets of cases have no input in common.
//
//   - Train: cases that a search may read. A prompt that is evaluated answers Reflect of them, drawn by its text, and
//     its result shows the input, the reply and the feedback of the worst few. The search's model reads these beside
//     the prompt. [Task.Minibatch] scores on Train cases alone, for population.Screen (GEPA's acceptance).
//   - Validation: what a prompt's score is the mean of. Result.Cases has the score of each case, in the order of the
//     Config. The search learns these numbers, and no text.
//   - HeldOut: what [task.HeldOut] scores. No search sees it.
//
// # What the target is asked
//
// A prompt with "{input}" in it, at most 16 times, is a user message in which the case's input stands in its
// place. Any other is the system message, and the input is the user's. Parts are put together with blank lines between
// them; Config.Messages does it otherwise.
//
// Put [llm.Retry] around the target. docs/guide.md says what its calls count as, and what becomes of those that fail.
package text

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// The defaults of a [Config].
const (
	defaultReflect   = 8
	defaultShow      = 3
	defaultMaxPrompt = 64 << 10
)

// Config describes a task.
type Config struct {
	Name string // of the task, as [task.Spec] has it; required
	// Initial is the prompt that every search begins with. A prompt of several parts has Parts instead.
	Initial string
	// Parts are the named parts of the initial prompt. The program is then what [JoinParts] makes of them, and
	// population.Rewrite with InTurn changes one part at a time.
	Parts []Part
	// About describes the prompt's purpose to the search's model; "" means that it only sees the feedback.
	About string

	Target  llm.LLM     // answers the cases; required
	Request llm.Request // sampling fields of each call; Messages and Seed are not used
	// Messages makes the request of the parts and a case's input; nil means as the package says. A prompt without parts
	// is one part without a name.
	Messages func(parts []Part, input string) []llm.Message

	Train, Validation, HeldOut []Case // all required

	// Score scores a reply, higher is better, and says what is wrong with it, in words that the search's model reads.
	// A score that is not finite makes the prompt invalid. A panic is an error.
	Score func(c Case, reply string) (score float64, feedback string)
	// Scorer scores replies in the place of Score: an evaluator whose program is the JSON of a [Graded], such as the task
	// of a folder with an evaluator.py. What it calls invalid scores Worst. Its reason and artifacts are the feedback.
	Scorer eval.Evaluator
	Worst  float64 // score of a case without a reply, the least that Score returns; 0 for scores from 0

	// Reflect is how many train cases a prompt answers for feedback; 0 means 8, or all if they are fewer, and -1 none, for
	// a search that answers a Minibatch before each rewrite.
	Reflect   int
	Show      int // number of the worst of these that the search's model sees; 0 means 3
	MaxPrompt int // bytes of a valid prompt; 0 means 64 KiB
}

func (c Config) withDefaults() Config {
	c.Reflect = max(0, min(cmp.Or(c.Reflect, defaultReflect), len(c.Train)))
	c.Show = min(cmp.Or(c.Show, defaultShow), c.Reflect)
	c.MaxPrompt = cmp.Or(c.MaxPrompt, defaultMaxPrompt)
	if c.Messages == nil {
		c.Messages = place
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Target == nil:
		return errors.New("Config.Target is nil: need the model that answers")
	case (c.Score == nil) == (c.Scorer == nil):
		return errors.New("need one of Config.Score and Config.Scorer")
	case (c.Initial == "") == (len(c.Parts) == 0):
		return errors.New("need one of Config.Initial and Config.Parts")
	case c.Reflect < -1:
		return fmt.Errorf("Config.Reflect is %d: need -1 for none, 0 for the default, or more", c.Reflect)
	case math.IsNaN(c.Worst) || math.IsInf(c.Worst, 0):
		return fmt.Errorf("Config.Worst is %v: need a finite number", c.Worst)
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"Show", c.Show}, {"MaxPrompt", c.MaxPrompt}} {
		if f.value < 0 {
			return fmt.Errorf("%s is %d: need 0 for the default, or more", "Config."+f.name, f.value)
		}
	}
	if err := checkParts(c.Parts); err != nil {
		return err
	}
	return checkSets(c.Train, c.Validation, c.HeldOut)
}

// A Task is a prompt to improve. It is safe for concurrent use if the target and Score or Scorer are.
type Task struct {
	task.Task
	cfg     Config
	initial string
	names   []string // of the parts; nil for a prompt without
}

var (
	_ task.Task        = (*Task)(nil)
	_ task.ReplyParser = (*Task)(nil)
	_ task.Partitioner = (*Task)(nil)
	_ eval.Composite   = (*Task)(nil)
)

// New returns the task of c. It fails if a field is missing or wrong, naming the value.
func New(c Config) (*Task, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("text: %s: %w", c.Name, err)
	}
	c = c.withDefaults()
	t := &Task{cfg: c, initial: c.Initial}
	if len(c.Parts) > 0 {
		t.initial, t.names = JoinParts(c.Parts), namesOf(c.Parts)
	}
	if _, err := t.read(t.initial); err != nil {
		return nil, fmt.Errorf("text: %s: the initial prompt: %w", c.Name, err)
	}
	var err error
	t.Task, err = task.New(task.Spec{
		Name: c.Name, System: t.system(), Initial: t.initial, Ext: ".txt", IgnoreMarkers: true,
		Feedback: max(c.Show, defaultShow)*maxShown + 1000, // a minibatch of three has room
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result,
			error) {
			return t.Evaluate(ctx, program)
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	return t, nil
}

// Unwrap returns the task's prompt and parser, whose optional methods apply.
func (t *Task) Unwrap() task.Task { return t.Task }

// Ext returns ".txt".
func (t *Task) Ext() string { return ".txt" }

// String names the task.
func (t *Task) String() string {
	return fmt.Sprintf("Text(%s, %d train, %d validation, %d held out)", t.Name(), len(t.cfg.Train), len(t.cfg.Validation),
		len(t.cfg.HeldOut))
}

// Fingerprint is a hash of what decides scores: the cases and the form of requests. It does not cover the target and Go
// functions, which belong in a run's journal.Fingerprint by name.
func (t *Task) Fingerprint() string {
	h, c := sha256.New(), t.cfg
	fmt.Fprintf(h, "%q\n%q\n%q\n", c.Train, c.Validation, c.HeldOut)
	fmt.Fprintf(h, "%x\n%v %d %d %d\n", c.Request.Digest(), c.Worst, c.Reflect, c.Show, c.MaxPrompt)
	if f, ok := c.Scorer.(interface{ Fingerprint() string }); ok {
		fmt.Fprintln(h, f.Fingerprint())
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// system returns the system message of the search's model.
func (t *Task) system() string {
	var b strings.Builder
	b.WriteString("You improve a prompt for a language model. The program that you are shown is the text of the prompt " +
		"and not code. ")
	b.WriteString("The model answers one case at a time by it, and each reply is scored; higher is better. ")
	b.WriteString("In the prompt \"" + placeholder +
		"\" stands for the case's input; without it the prompt is the system message and the input is the user's message. ")
	b.WriteString("You are shown the cases that went worst, with what was wrong. The score is of other cases, so write " +
		"rules that hold in general, and no answers to single cases.")
	if len(t.names) > 0 {
		b.WriteString(" The prompt has named parts, each under a line of the form \"" + header("NAME") +
			"\". Keep these lines and their order.")
	}
	if t.cfg.About != "" {
		b.WriteString("\n\n" + t.cfg.About)
	}
	return b.String()
}

// read returns the parts of a program, or what is wrong with it, in words for a model.
func (t *Task) read(program string) ([]Part, error) {
	program = strings.TrimRight(program, " \t\r\n")
	switch {
	case len(program) > t.cfg.MaxPrompt:
		return nil, fmt.Errorf("the prompt has %d bytes: at most %d are allowed", len(program), t.cfg.MaxPrompt)
	case strings.TrimSpace(program) == "":
		return nil, errors.New("the prompt is empty")
	case !utf8.ValidString(program) || strings.ContainsRune(program, 0):
		return nil, errors.New("the prompt has a NUL or is not UTF-8")
	case strings.Count(program, placeholder) > maxInputs:
		return nil, fmt.Errorf("the prompt has %q %d times: at most %d are allowed",
			placeholder, strings.Count(program, placeholder), maxInputs)
	case len(t.names) == 0:
		return []Part{{Text: program}}, nil
	}
	return splitAs(program, t.names)
}
