package command

import (
	"strings"

	"github.com/evoalloc/evoalloc/llm"
)

// Prompt returns the messages of req as one text, with empty lines between them. From the first answer of the assistant
// on, a heading says whose each message is, as in "### user". Tools are left out.
func Prompt(req llm.Request) (string, error) {
	talk := false
	for _, m := range req.Messages {
		talk = talk || m.Role != llm.System && m.Role != llm.User
	}
	var parts []string
	for _, m := range req.Messages {
		text := strings.TrimRight(m.Content, "\n")
		if talk {
			text = "### " + m.Role + "\n\n" + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n") + "\n", nil
}
