// Package offline is a stand-in for a language model that needs no network, no key and no weights.
//
// It is not a language model, and nothing about language models follows from results with it. It takes the
// program that the prompt shows, changes some of the numbers in it at random, and answers with it in
// the way models answer: with words around it, sometimes after thinking, sometimes cut off or broken.
// Its usage is counted like a model's, so that the whole way from the prompt to the FLOPs runs on a
// machine that has nothing but Go: to try a task, a policy or a script before it is given a model that
// costs something, and to test.
//
// Because it is a blind hill climber it does improve programs whose quality is in their numbers. What
// takes an idea it never finds, unless it is given the abilities that [Config] has: edits of structure find rules of
// a few operations, and others make what a search does with its prompts matter. All of them are blind to scores but
// for what the prompt says.
package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
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

	// What follows are abilities beyond changing numbers. Each sees the prompt's text and nothing else, and with all
	// of them 0 the replies are those of a model that has none, to the byte.

	// Structure is the share of replies to programs in JavaScript, of up to 64 KiB, that change what the program does:
	// expressions and statements are replaced, extended, copied, taken out or moved. What is new has numbers that come
	// to mind first, so it is mostly worse until they are tuned. Comments are lost. 0 means none.
	Structure float64
	// Splice is the chance that a request to combine programs, of which several are shown, is obeyed: a statement or
	// an expression of one takes a place in another, or lines do in languages other than JavaScript. It is blind to
	// merit, and in a fifth of splices a name is misspelt. 0 means never.
	Splice float64
	// Heed is the chance that each thing is obeyed that the instruction or a note asks for in words that the model
	// knows: to change numbers alone, to try something different or simpler, to fix the line that is named, to
	// change the program that is named, to use or avoid an idiom such as "a ratio" or "Math.min". A wrong note
	// misleads as much as a right one helps. 0 means never.
	Heed float64
	// Insights is whether a request for a summary or for insights is answered by the idiom whose attempts, of those
	// that the prompt shows with their scores, have the best mean score.
	Insights bool
	// Prose is the share of replies to programs in blocks without a language, such as prompts, that change whole lines: a
	// sentence that the request quotes (in a line that begins with ">", as feedback is) is added, or a line is taken out,
	// replaced or moved. It is blind to what the sentences mean. 0 means none.
	Prose float64
	// Few is how many distinct replies a prompt has, as few as those of real models at a low temperature; the seed
	// modulo Few selects one. 0 means one for each seed.
	Few int
	// Long is how fast replies get worse with the length of the prompt: of n tokens, the share of replies with a
	// whole program is 1 − Broken times e^(−Long·n/1000). 0 means not at all.
	Long float64
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
	case c.Few < 0 || c.Few > math.MaxInt32:
		return fmt.Errorf("offline: Config.Few is %d: need 0 for one reply a seed, or more", c.Few)
	case !(c.Long >= 0) || math.IsInf(c.Long, 0):
		return fmt.Errorf("offline: Config.Long is %v: need at least 0", c.Long)
	}
	for _, f := range []struct {
		name  string
		share float64
	}{{"Structure", c.Structure}, {"Splice", c.Splice}, {"Heed", c.Heed}, {"Prose", c.Prose}} {
		if !(f.share >= 0 && f.share <= 1) {
			return fmt.Errorf("offline: Config.%s is %v: need 0 to 1", f.name, f.share)
		}
	}
	return nil
}

// abilities prints those that c has.
func (c Config) abilities() string {
	var b strings.Builder
	for _, f := range []struct {
		name  string
		value float64
	}{{"structure", c.Structure}, {"splice", c.Splice}, {"heed", c.Heed}, {"prose", c.Prose}, {"few", float64(c.Few)}, {"long", c.Long}} {
		if f.value != 0 {
			fmt.Fprintf(&b, ", %s %g", f.name, f.value)
		}
	}
	if c.Insights {
		b.WriteString(", insights")
	}
	return b.String()
}

// A Model answers with the program it is shown, its numbers changed, or more with the abilities of its [Config]. Make one
// with [New]. It holds no
// state, so it is safe for concurrent use. What it answers depends on the request's messages, seed and cap
// on new tokens alone, so that equal requests have equal replies but for the latency measured. The other
// sampling fields change nothing.
//
// The program is the one in the last user message that has a fenced block. If it has several, those
// tagged like the last one are equally likely to be taken, so that every parent of a prompt has its
// turn.
//
// Numbers are found by the syntax of JavaScript, Python or Go, or of a language like one of them. Those in
// names, strings and comments are left alone, as are hexadecimal ones. How many are changed, and by how
// much, is heavy-tailed: mostly one, sometimes several or all, by steps whose scale is drawn over three
// orders of magnitude, relative to the number or absolute. Integers mostly stay integers, as they often
// count things. Those that stand in lists of numbers are changed more readily, and zeros among them become
// real. A tenth of replies swap, copy, scale or negate numbers instead.
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

// String prints all that decides what m answers.
func (m *Model) String() string {
	return fmt.Sprintf("offline(%v, broken %g, latency %v%s)", m.cfg.Model, max(m.cfg.Broken, 0), m.cfg.Latency, m.cfg.abilities())
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
