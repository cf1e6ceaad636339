package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/llm"
)

// textForm describes tools to a model that has none of its own.
func textForm(tools []llm.Tool) string {
	var b strings.Builder
	b.WriteString("\nCall a tool by a block like this, at most 16 in a reply. Results come in the next message:\n\n" +
		"```tool\n{\"name\": \"read\", \"arguments\": {\"path\": \"a/file\"}}\n```\n\nThe tools:\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "- %s: %s Arguments: %s\n", t.Name, t.Description, t.Parameters)
	}
	return b.String()
}

// callsIn returns the tool calls in the blocks of a reply. A block of no valid JSON becomes a call of an unknown tool.
func callsIn(reply string) (calls []llm.ToolCall) {
	for block := range fence.Blocks(fence.WithoutThinking(reply)) {
		if block.Info != "tool" {
			continue
		}
		var c struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := json.NewDecoder(bytes.NewReader([]byte(block.Text()))).Decode(&c); err != nil {
			c.Name = block.Text()
		}
		c.Name = strings.ToValidUTF8(c.Name[:min(len(c.Name), 100)], "")
		calls = append(calls, llm.ToolCall{ID: fmt.Sprint(len(calls) + 1), Name: c.Name, Arguments: string(c.Arguments)})
	}
	return calls
}
