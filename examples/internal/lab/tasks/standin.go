package tasks

import (
	"context"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A standIn answers with the program that it is shown, changed at random: a blind hill climber in the place of a
// model. What it answers depends on the request alone. One reply in twenty holds no program, as models fail too.
type standIn struct {
	language string // of the block that holds the program
	change   func(r *rand.Rand, program string) (string, error)
}

var _ llm.LLM = standIn{}

// failing is the share of replies without a program.
const failing = 0.05

// Generate implements [llm.LLM].
func (s standIn) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, err
	}
	shown, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, s.language)
	if err != nil {
		return llm.Reply{}, err
	}
	r := rand.New(rand.NewPCG(uint64(req.Seed), 0)) // no two children of a search have the same seed
	text := "I cannot improve this."
	if r.Float64() >= failing {
		changed, err := s.change(r, shown)
		if err != nil {
			return llm.Reply{}, err
		}
		text = task.Fence(changed, s.language)
	}
	return llm.Reply{Text: text,
		Attempts: []llm.Attempt{{Status: llm.OK, FinishReason: "stop", MaxTokens: llm.DefaultMaxTokens}}}, nil
}

// several returns a number of changes: one in half of all cases, two in a quarter, and so on, at most most.
func several(r *rand.Rand, most int) int {
	n := 1
	for n < most && r.IntN(2) == 0 {
		n++
	}
	return n
}
