// Package offline is a stand-in for a language model that needs no network, no key and no weights.
//
// It is not a language model, and nothing about language models follows from results with it. It takes the
// program that the prompt shows, changes some of the numbers in it at random, and answers with it in
// the way models answer: with words around it, sometimes after thinking, sometimes cut off or broken.
// Its usage is counted like a model's, so that the whole way from the prompt to the FLOPs runs on a
// machine that has nothing but Go: to try a task, a policy or a script before it is given a model that
// costs something, and to test.
//
// Because it is a blind hill climber it does improve programs whose quality is in their numbers. What takes an idea
// it never finds; with edits of structure, rules of a few operations. It ignores what prompts ask for, unless
// [Config] has a Read.
package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// defaultBroken is the share of replies that are broken on purpose by default.
const defaultBroken = 0.05

// Nominal returns the model that a [Model] passes for where [Config] names none. Its parameters are
// a made-up number, so that FLOPs are counted at all: they do not measure what the machine did.
func Nominal() llm.Model {
	return llm.Model{Key: "offline", Name: "offline", ActiveParams: 1_000_000}
}

// Config says how a [Model] answers. Its zero value is usable.
type Config struct {
	// Model is the language model to pass for: its parameters, the cap on new tokens and the
	// timeout are those of the attempts. The zero value means [Nominal].
	Model llm.Model
	// Broken is the share of replies, up to 1, that hold no whole program: cut off, with a syntax
	// error, without a block, all thinking. 0 means 0.05; less than 0 means none.
	Broken float64
	// Latency is how long each reply takes; 0 means that it comes at once.
	Latency time.Duration

	// Structure is the share of replies to programs in JavaScript, of up to 64 KiB, that change what the program does:
	// expressions and statements are replaced, extended, copied, taken out or moved. What is new has numbers that come
	// to mind first, so it is mostly worse until they are tuned. Comments are lost. 0 means none.
	Structure float64
	// Prose is the share of replies to programs in blocks without a language, such as prompts, that change whole lines: a
	// sentence that the request quotes (in a line that begins with ">", as feedback is) is added, or a line is taken out,
	// replaced or moved. It is blind to what the sentences mean. 0 means none.
	Prose float64
	// Read, if not nil, decides how a reply is made from the last message of the user, for a stand-in that heeds what it
	// is asked. It must depend on its arguments and the numbers it draws from r alone, and is called by several goroutines
	// at once. nil means that all of a message but its programs is ignored, except by Prose.
	Read func(message string, r *rand.Rand) Plan
}

// A Plan is how a [Model] makes one reply. Its zero value means as it does without one.
type Plan struct {
	Text  string // the whole reply; "" means one with a program
	First bool   // whether the program that is shown first is changed; false means any
	// Change returns the program of the reply: the i-th of those that are shown, changed. It draws from the same r as
	// the Read that returned it. altered is whether more than its numbers may have been changed. nil means the
	// model's own change.
	Change func(shown []Program, i int) (text string, altered bool)
}

// A Program is one that a prompt shows.
type Program struct {
	Language string // as its block is tagged; "" if it is not
	Text     string
}

func (c Config) withDefaults() Config {
	if c.Model == (llm.Model{}) {
		c.Model = Nominal()
	}
	c.Model = c.Model.WithDefaults()
	c.Broken = cmp.Or(c.Broken, defaultBroken)
	return c
}

func (c Config) validate() error {
	switch {
	case c.Model.Key == "":
		return errors.New("offline: Config.Model has no Key")
	case c.Model.ActiveParams < 0:
		return fmt.Errorf("offline: Config.Model.ActiveParams is %d: need at least 0", c.Model.ActiveParams)
	case c.Model.MaxTokens < 0:
		return fmt.Errorf("offline: Config.Model.MaxTokens is %d: need 0 for the default, or more", c.Model.MaxTokens)
	case c.Model.Timeout < 0:
		return fmt.Errorf("offline: Config.Model.Timeout is %v: need 0 for the default, or more", c.Model.Timeout)
	case math.IsNaN(c.Broken) || c.Broken > 1:
		return fmt.Errorf("offline: Config.Broken is %v: need a share of replies, at most 1", c.Broken)
	case c.Latency < 0:
		return fmt.Errorf("offline: Config.Latency is %v: need at least 0", c.Latency)
	case !(c.Structure >= 0 && c.Structure <= 1):
		return fmt.Errorf("offline: Config.Structure is %v: need 0 to 1", c.Structure)
	case !(c.Prose >= 0 && c.Prose <= 1):
		return fmt.Errorf("offline: Config.Prose is %v: need 0 to 1", c.Prose)
	}
	return nil
}

// A Model answers with the program it is shown, its numbers changed, or more if its [Config] says so. Make one
// with [New]. It holds no state, so it is safe for concurrent use. What it answers depends on the request's messages,
// seed and cap on new tokens alone, so that equal requests have equal replies but for the latency measured. The
// other sampling fields change nothing.
//
// The program is the one in the last user message that has a fenced block. If it has several, those
// tagged like the last one are equally likely to be taken, so that every parent of a prompt has its
// turn.
//
// Numbers are found by the syntax of JavaScript, Python or Go, or of a language like one of them. Those in
// names, strings and comments are left alone, as are hexadecimal ones. Mostly one is changed, sometimes several or
// all, and integers mostly stay integers.
//
// Tokens are counted as one for every four bytes, begun ones included, message by message. Cached
// tokens are those of all messages before the last, in whole blocks of 16, as if a server's prefix
// cache always held them: a cache that filled up would depend on the order of requests.
type Model struct{ cfg Config }

var _ llm.LLM = (*Model)(nil)

// New returns a model that answers as c says. It fails if a field of c is wrong, naming the value.
func New(c Config) (*Model, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &Model{c}, nil
}

// Spec returns the language model that m passes for.
func (m *Model) Spec() llm.Model { return m.cfg.Model }

// String prints all that decides what m answers, except for a Read.
func (m *Model) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "offline(%v, broken %g, latency %v", m.cfg.Model, max(m.cfg.Broken, 0), m.cfg.Latency)
	if m.cfg.Structure != 0 {
		fmt.Fprintf(&b, ", structure %g", m.cfg.Structure)
	}
	if m.cfg.Prose != 0 {
		fmt.Fprintf(&b, ", prose %g", m.cfg.Prose)
	}
	return b.String() + ")"
}

// Generate answers after the latency. The attempt has status Timeout if the model's timeout or ctx's
// deadline comes first, Canceled if ctx ends otherwise, and Failed if req has no messages or a cap on
// new tokens below 1. If ctx has ended already nothing is sent and there is no attempt.
func (m *Model) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, fmt.Errorf("offline: not sent: %w", err)
	}
	t := llm.TraceOf(ctx)
	if err := t.Send(); err != nil {
		return llm.Reply{}, err
	}
	reply, err := m.attempt(ctx, req)
	t.Ended(slices.Clone(reply.Attempts))
	return reply, err
}

// Announces returns true, see [llm.Announces].
func (m *Model) Announces() bool { return true }

// attempt makes the one attempt at req.
func (m *Model) attempt(ctx context.Context, req llm.Request) (llm.Reply, error) {
	begin := time.Now()
	spec := m.cfg.Model
	a := llm.Attempt{MaxTokens: spec.MaxTokens, Model: spec.Key, ActiveParams: spec.ActiveParams}
	if req.MaxTokens != nil {
		a.MaxTokens = *req.MaxTokens
	}
	if err := check(req, a.MaxTokens); err != nil {
		return failed(a, begin, &llm.Error{Status: llm.Failed, Kind: llm.KindBadRequest, Err: err})
	}
	r := answer(req, m.cfg)
	r.limit(a.MaxTokens)
	if err := wait(ctx, m.cfg.Latency, spec.Timeout); err != nil {
		return failed(a, begin, &llm.Error{Status: llm.StatusOf(err), Err: fmt.Errorf("offline: no reply: %w", err)})
	}
	a.Status, a.FinishReason, a.Latency = llm.OK, r.finish, time.Since(begin)
	u := usage(req.Messages, r.text)
	a.Usage = &u
	return llm.Reply{Text: r.text, Attempts: []llm.Attempt{a}}, nil
}

// check says what an endpoint would refuse in req.
func check(req llm.Request, maxTokens int) error {
	switch {
	case len(req.Messages) == 0:
		return errors.New("offline: the request has no messages")
	case maxTokens < 1:
		return fmt.Errorf("offline: the request's MaxTokens is %d: need at least 1", maxTokens)
	}
	return nil
}

// failed returns a reply of the one attempt that ended with err.
func failed(a llm.Attempt, begin time.Time, err *llm.Error) (llm.Reply, error) {
	a.Status, a.Kind, a.Err, a.Latency = err.Status, err.Kind, err.Error(), time.Since(begin)
	return llm.Reply{Attempts: []llm.Attempt{a}}, err
}

// wait returns when d has passed, or with the reason if ctx ends or timeout passes before.
func wait(ctx context.Context, d, timeout time.Duration) error {
	if d == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// bytesPerToken is about what tokenizers make of programs and English.
const bytesPerToken = 4

// blockTokens is the size of the blocks that servers cache prefixes in (vLLM's default).
const blockTokens = 16

func tokens(s string) int { return (len(s) + bytesPerToken - 1) / bytesPerToken }

// usage counts what a reply of text to messages took.
func usage(messages []llm.Message, text string) llm.Usage {
	u := llm.Usage{CompletionTokens: tokens(text)}
	for i, m := range messages {
		if i == len(messages)-1 {
			u.CachedTokens = u.PromptTokens / blockTokens * blockTokens
		}
		u.PromptTokens += tokens(m.Content)
	}
	return u
}
