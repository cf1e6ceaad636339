package standin_test

import (
	"context"
	"fmt"

	"github.com/evoalloc/evoalloc/examples/internal/standin"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
)

// It sums up the scores that the prompt shows.
func ExampleAbilities() {
	m, err := offline.New(standin.Abilities{Insights: true}.Config())
	if err != nil {
		panic(err)
	}
	reply, err := m.Generate(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.User,
		Content: "Attempts:\n\n- used Math.sqrt: score 0.75\n- used Math.abs: score 0.5\n\nWrite down your insights.\n"}}})
	fmt.Println(reply.Text, err)
	// Output: Of 2 attempts the best came to 0.75. <nil>
}
