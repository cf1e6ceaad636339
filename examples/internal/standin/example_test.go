package standin_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/examples/internal/standin"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/offline"
)

// It tells what worked by the scores that the prompt shows, and heeds a note that says so.
func ExampleAbilities() {
	m, err := offline.New(standin.Abilities{Insights: true, Heed: 1, Structure: 1}.Config())
	if err != nil {
		panic(err)
	}
	reply, err := m.Generate(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.User,
		Content: "Attempts:\n\n" +
			"- used Math.sqrt: score 0.75\n- used Math.abs: score 0.5\n\nWrite down your insights.\n"}}})
	fmt.Println(reply.Text, err)
	reply, err = m.Generate(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.User,
		Content: "```js\nfunction f(x) { return x / 2 }\n```\n\n" +
			"> " + reply.Text}}})
	fmt.Println(strings.Contains(reply.Text, "Math.sqrt"), err)
	// Output:
	// Prefer a square root: of 2 attempts, the 1 with it have the best mean score, 0.75. <nil>
	// true <nil>
}
