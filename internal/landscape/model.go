package landscape

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A Model is a stand-in for a language model that edits the programs of the families. It sees the prompt's text and
// nothing else: it is made without the scorer, and knows which program is better by the scores that are shown, if it
// looked at them. It changes the first program that the prompt shows and does not call one that is not to be changed,
// which is the one that [task.Ask] asks to change.
//
// Every field is an ability or a fault. With all of them 0, each reply is the first program with one to three of its
// words or numbers replaced at random, whatever else the prompt holds. Equal requests have equal replies.
//
// Tokens are counted as llm/offline counts them, one for every four bytes, without a prefix cache.
type Model struct {
	// Words are those that it knows: how many of the family's there are. 0 means 2.
	Words int
	// Bold is the chance that a request for something different is obeyed: a line, and now and then those after it, is
	// written anew. New structure has default numbers. 0 means never.
	Bold float64
	// Splice is the chance that a request to combine is obeyed where several programs are shown: a run of lines of
	// another program takes the place of those of the first. It is blind to merit; a tenth of splices lose a word, and
	// half of them have a word or a number changed besides. 0 means never.
	Splice float64
	// Borrow is the chance that a rewrite takes a line of another program that is shown. 0 means never.
	Borrow float64
	// Heed is the chance that a note is obeyed that says which word to use for a kind. A wrong note misleads as much as a
	// right one helps. 0 means never.
	Heed float64
	// Avoid is the chance that a change which the prompt tells of as one that brought nothing is made anew, up to eight
	// times. 0 means never.
	Avoid float64
	// Insights is whether a request for notes is answered by the words whose attempts, of those that the prompt tells of,
	// gained most on average.
	Insights bool
	// Few is how many distinct replies a prompt has; 0 means one for each seed.
	Few int
	// Broken is the share of replies that break off before the program, so that what is read of them is invalid. Long is
	// how fast replies get worse with the prompt's length: of n tokens, the share of whole ones is (1 −
	// Broken)·e^(−Long·n/1000).
	Broken, Long float64
	// Signed ends each program with a comment of its own, so that no two are the same text. A noisy evaluator can then
	// draw its noise by the text, and a run is the same however its evaluations are timed.
	Signed bool
}

var _ llm.LLM = Model{}

// Spec is the model that a [Model] passes for. Its parameters are a made-up number, so that FLOPs are counted at all.
func (Model) Spec() llm.Model {
	return llm.Model{Key: "stand-in", Name: "stand-in", ActiveParams: 1_000_000, MaxTokens: 512}.WithDefaults()
}

// Announces returns true, see [llm.Announces].
func (Model) Announces() bool { return true }

// Generate answers at once.
func (m Model) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, fmt.Errorf("landscape: not sent: %w", err)
	}
	if len(req.Messages) == 0 {
		return llm.Reply{}, errors.New("landscape: the request has no messages")
	}
	t := llm.TraceOf(ctx)
	if err := t.Send(m.Spec().Key); err != nil {
		return llm.Reply{}, err
	}
	var prompt strings.Builder
	for _, message := range req.Messages {
		prompt.WriteString(message.Content + "\n")
	}
	text := m.answer(prompt.String(), req.Seed)
	spec := m.Spec()
	a := llm.Attempt{
		Status: llm.OK, FinishReason: "stop", MaxTokens: spec.MaxTokens, Model: spec.Key, ActiveParams: spec.ActiveParams,
		Usage: &llm.Usage{PromptTokens: tokens(prompt.String()), CompletionTokens: tokens(text)},
	}
	t.Ended([]llm.Attempt{a})
	return llm.Reply{Text: text, Attempts: []llm.Attempt{a}}, nil
}

// tokens counts one for every four bytes.
func tokens(text string) int { return (len(text) + 3) / 4 }

// answer replies to a prompt.
func (m Model) answer(prompt string, seed uint32) string {
	if m.Few > 0 {
		seed %= uint32(m.Few)
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint32([]byte(prompt), seed))
	r := rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
	programs, prose := shown(prompt)
	asks := m.asked(prose, len(programs), r)
	switch {
	case asks.notes:
		return insights(prompt)
	case len(programs) == 0:
		return "I see no program that I could change."
	case r.Float64() > (1-m.Broken)*math.Exp(-m.Long*float64(tokens(prompt))/1000):
		return "I would look at the largest part first, and then"
	}
	e := editor{r, repertoire[:max(m.Words, 2)]}
	text := m.write(e, programs, asks).String()
	if m.Avoid > 0 && r.Float64() < m.Avoid {
		for try := 0; try < 8 && failed(prose, programs[0].String(), text); try++ {
			text = m.write(e, programs, asks).String()
		}
	}
	if m.Signed {
		text += fmt.Sprintf("\n# %08x", sum[:4])
	}
	return reply(text)
}

// reply returns the reply that a program is given in.
func reply(program string) string { return "Here is the program.\n\n" + fence.Wrap(program, "") + "\n" }

// shown returns the programs that a prompt shows, those that are not to be changed last, and what it says around them.
func shown(prompt string) (programs []sheet, prose string) {
	var b strings.Builder
	var others []sheet
	at := 0
	for block := range fence.Blocks(prompt) {
		lead := prompt[at:block.Begin]
		b.WriteString(lead)
		at = block.End
		s := read(block.Text())
		switch {
		case len(s) == 0:
		case strings.Contains(lead, "not to be changed"):
			others = append(others, s)
		default:
			programs = append(programs, s)
		}
	}
	b.WriteString(prompt[at:])
	return append(programs, others...), b.String()
}

// write makes the program of a reply.
func (m Model) write(e editor, programs []sheet, asks wish) sheet {
	s := programs[0].clone()
	switch {
	case asks.splice:
		return e.splice(s, programs[1+e.IntN(len(programs)-1)])
	case asks.bold:
		return e.anew(s)
	case asks.mend > 0:
		return e.mend(s, asks.mend)
	case asks.use != "" && e.use(s, asks.use):
		return s
	case len(programs) > 1 && e.chance(m.Borrow):
		e.borrow(s, programs[1+e.IntN(len(programs)-1)])
		return s
	}
	return e.edit(s, asks.numbers)
}

// Rewrite returns the tokens of one rewrite of a task's initial program that is answered with a program as long.
func Rewrite(t task.Task) *llm.Usage {
	n := 0
	initial := eval.Candidate{Program: t.Initial(), Result: eval.Result{Valid: true}}
	for _, message := range t.Prompt(task.Ask{Parents: []eval.Candidate{initial}}) {
		n += tokens(message.Content)
	}
	return &llm.Usage{PromptTokens: n, CompletionTokens: tokens(reply(t.Initial()))}
}
