package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
)

// A content is the content of a message in either dialect: a text, or blocks.
type content []block

// A block is a part of a content, with the fields of all types that are known.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Refusal   string          `json:"refusal"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"` // of a tool's result
	IsError   bool            `json:"is_error"`
}

// UnmarshalJSON reads a text, null or a list of blocks.
func (c *content) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case 'n': // null
		return nil
	case '"':
		b := block{Type: "text"}
		if err := json.Unmarshal(raw, &b.Text); err != nil {
			return err
		}
		*c = content{b}
		return nil
	}
	var blocks []block
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

// text returns the content, which must be nothing but text.
func (c content) text() (string, error) {
	var texts []string
	for i, b := range c {
		switch b.Type {
		case "text", "input_text", "output_text":
			texts = append(texts, b.Text)
		case "refusal":
			texts = append(texts, b.Refusal)
		default:
			return "", fmt.Errorf("content[%d]: %w", i, b.unknown())
		}
	}
	return strings.Join(texts, "\n"), nil
}

// result returns the content of a tool's result. What its blocks have as content of their own is ignored.
func (b block) result() (string, error) {
	if len(b.Content) == 0 {
		return "", nil
	}
	var c content
	if err := c.UnmarshalJSON(b.Content); err != nil {
		return "", undecoded(err)
	}
	return c.text()
}

func (b block) unknown() error {
	return fmt.Errorf("a part of the type %.40q cannot be passed on here: only text and whole calls and results of "+
		"tools can",
		b.Type)
}

// addTool adds a tool, whose parameters are the schema of its arguments, null or nothing.
func (a *ask) addTool(name, description string, parameters json.RawMessage) error {
	schema := strings.TrimSpace(string(parameters))
	if schema == "null" {
		schema = ""
	}
	if schema != "" && schema[0] != '{' {
		return errors.New("need a JSON object")
	}
	a.Tools = append(a.Tools, llm.Tool{Name: name, Description: description, Parameters: schema})
	return nil
}

// roleOf returns package llm's name of a role. The role of a tool's result is not among them.
func roleOf(role string) (string, error) {
	switch role {
	case "developer":
		return llm.System, nil
	case llm.System, llm.User, llm.Assistant:
		return role, nil
	}
	return "", fmt.Errorf("the role %.40q is not known", role)
}

// decode reads the body of a request. Fields that are not known are ignored.
func decode(body []byte, to any) error {
	if err := bounded(body); err != nil {
		return err
	}
	if err := json.Unmarshal(body, to); err != nil {
		return undecoded(err)
	}
	return nil
}

// undecoded returns what a client is told of err, an error of package json.
func undecoded(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalid(strings.TrimPrefix(fmt.Sprintf("%s: a %s is of no use there", wrong.Field, wrong.Value), ": "))
	}
	return invalid("the request is not JSON")
}

// Bounds of a body. Without them a short one decodes to much memory, as an empty object does to a block.
const (
	maxParts = 100_000 // objects, arrays and commas
	maxDepth = 64      // objects and arrays around one place
)

// bounded refuses a body with more parts or more depth than the bounds. Brackets and commas in texts do not count.
func bounded(body []byte) error {
	parts, depth, quoted := 0, 0, false
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case quoted && b == '\\':
			i++ // the next byte ends no text
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{', b == '[':
			depth++
			parts++
		case b == ',':
			parts++
		case b == '}', b == ']':
			depth--
		}
		if depth > maxDepth {
			return invalid("the request is nested deeper than " + itoa(maxDepth))
		}
		if parts > maxParts {
			return invalid("the request has more than " + itoa(maxParts) + " objects, arrays and commas")
		}
	}
	return nil
}
