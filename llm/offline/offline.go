// Package offline is a stand-in for a language model, without network, key or weights.
//
// It is not a language model, and nothing about language models follows from results with it. It takes the program in
// the prompt, changes some of its numbers at random, and answers in the way of models: with words around the program,
// sometimes after thinking, sometimes cut off or broken. Its usage is counted like a model's, so that everything from
// the prompt to the FLOPs runs on a machine with Go alone: for tests, and to try a task, a policy or a script before
// paying for a model.
//
// It is a blind hill climber, so it does improve programs whose quality is in their numbers. It has no ideas, and ignores
// the prompt's instructions unless [Config] has a Read.
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

// defaultBroken is the default share of replies that are broken on purpose.
const defaultBroken = 0.05

// Nominal returns the default of Config.Model. Its number of parameters is invented, so that FLOPs can be counted; they
// do not measure real work.
func Nominal() llm.Model {
	return llm.Model{Key: "offline", Name: "offline", ActiveParams: 1_000_000}
}

// Config configures a [Model]. Its zero value is usable.
type Config struct {
	// Model is the language model to imitate: attempts have its parameters, cap on new tokens and timeout. The zero value
	// means [Nominal].
	Model llm.Model
	// Broken is the share of replies, up to 1, without a whole program: cut off, with a syntax error, without a block, or
	// only thinking. 0 means 0.05; less than 0 means none.
	Broken float64
	// Latency is the time of each reply; 0 means at once.
	Latency time.Duration

	// Temper is how bold its changes of numbers are: "small" or "large" steps, "splice" for values of other numbers of the
	// program; "" means of every kind.
	Temper string
	// Prose is the share of replies to programs in blocks without a language, such as prompts, that change whole lines: a
	// sentence that the request quotes (in a line that begins with ">", as feedback does) is added, or a line is removed,
	// replaced or moved. The meaning of sentences plays no part. 0 means none.
	Prose float64
	// Read plans a reply from the user's last message, for a stand-in that follows instructions. It must depend only on
	// its arguments and its draws from r, and several goroutines call it at once. nil means that only the message's
	// programs are read, and what Prose needs.
	Read func(message string, r *rand.Rand) Plan
}

// A Plan is how a [Model] makes one reply. The zero value is the default way.
type Plan struct {
	Text  string // the whole reply; "" means a reply with a program
	First bool   // whether the first program shown is changed; false means any
	// Change returns the program of the reply: the i-th program shown, changed. It draws from the same r as Read. altered
	// reports whether more than numbers may have changed. nil means the model's own change.
	Change func(shown []Program, i int) (text string, altered bool)
}

// A Program is a program in a prompt.
type Program struct {
	Language string // the tag of its block; "" without a tag
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
	case !slices.Contains([]string{"", "small", "large", "splice"}, c.Temper):
		return fmt.Errorf("offline: Config.Temper is %q: it is small, large, splice, or \"\" for all", c.Temper)
	case c.Latency < 0:
		return fmt.Errorf("offline: Config.Latency is %v: need at least 0", c.Latency)
	case !(c.Prose >= 0 && c.Prose <= 1):
		return fmt.Errorf("offline: Config.Prose is %v: need 0 to 1", c.Prose)
	}
	return nil
}

// A Model answers with the program from the prompt, with changed numbers, or more changes if its [Config] says so. Make
// one with [New]. It holds no state, so it is safe for concurrent use. Its answers depend only on the request's
// messages, seed and cap on new tokens, so equal requests have equal replies except for the measured latency. The other
// sampling fields have no effect.
//
// The program is taken from the last user message with a fenced block. If the message has several blocks, those tagged
// like the last one are equally likely, so that every parent in a prompt has its turn.
//
// Numbers are found by the syntax of JavaScript, Python, Go, or a similar language. Those in names, strings and
// comments are left alone, as are hexadecimal ones. Usually one number is changed, sometimes several or all, and
// integers mostly stay integers.
//
// Tokens are counted as one for every four bytes, rounded up for each message. Cached tokens are those of all messages
// but the last, in whole blocks of 16, as if a server's prefix cache always held them: a real cache would depend on the
// order of requests.
type Model struct{ cfg Config }

var _ llm.LLM = (*Model)(nil)

// New returns a model for c. It fails if a field of c is wrong, naming the value.
func New(c Config) (*Model, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &Model{c}, nil
}

// Spec returns the language model that m imitates.
func (m *Model) Spec() llm.Model { return m.cfg.Model }

// String returns everything that m's answers depend on, except Read.
func (m *Model) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "offline(%v, broken %g, latency %v", m.cfg.Model, max(m.cfg.Broken, 0), m.cfg.Latency)
	if m.cfg.Prose != 0 {
		fmt.Fprintf(&b, ", prose %g", m.cfg.Prose)
	}
	if c := m.cfg.Temper; c != "" {
		fmt.Fprintf(&b, ", %s", c)
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
	if err := t.Send(m.cfg.Model.Key); err != nil {
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

// check returns an error if an endpoint would refuse req.
func check(req llm.Request, maxTokens int) error {
	switch {
	case len(req.Messages) == 0:
		return errors.New("offline: the request has no messages")
	case maxTokens < 1:
		return fmt.Errorf("offline: the request's MaxTokens is %d: need at least 1", maxTokens)
	}
	return nil
}

// failed returns the reply of an attempt that ended with err.
func failed(a llm.Attempt, begin time.Time, err *llm.Error) (llm.Reply, error) {
	a.Status, a.Kind, a.Err, a.Latency = err.Status, err.Kind, err.Error(), time.Since(begin)
	return llm.Reply{Attempts: []llm.Attempt{a}}, err
}

// wait returns nil after d, or an error if ctx ends or timeout passes before.
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

// bytesPerToken is about that of tokenizers for programs and English.
const bytesPerToken = 4

// blockTokens is the size of the blocks that servers cache prefixes in (vLLM's default).
const blockTokens = 16

func tokens(s string) int { return (len(s) + bytesPerToken - 1) / bytesPerToken }

// usage returns the usage of a reply of text to messages.
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
