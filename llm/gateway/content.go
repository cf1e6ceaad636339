package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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
	Content   content         `json:"content"`
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
		case "text":
			texts = append(texts, b.Text)
		case "refusal":
			texts = append(texts, b.Refusal)
		default:
			return "", fmt.Errorf("content[%d]: %w", i, b.unknown())
		}
	}
	return strings.Join(texts, "\n"), nil
}

func (b block) unknown() error {
	return fmt.Errorf("a part of the type %.40q cannot be passed on here: only text and whole calls and results of tools can",
		b.Type)
}

// A textList is a text or a list of texts.
type textList []string

// UnmarshalJSON reads either form, or null.
func (l *textList) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		*l = textList{""}
		return json.Unmarshal(raw, &(*l)[0])
	}
	var texts []string
	err := json.Unmarshal(raw, &texts)
	*l = texts
	return err
}

// schema returns the schema of a tool's arguments as it is sent on, "" if there is none.
func schema(raw json.RawMessage) (string, error) {
	s := strings.TrimSpace(string(raw))
	switch {
	case s == "" || s == "null":
		return "", nil
	case s[0] != '{':
		return "", errors.New("need a JSON object")
	}
	return s, nil
}

// decode reads the body of a request. Fields that are not known are ignored.
func decode(body []byte, to any) error {
	err := json.Unmarshal(body, to)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalid(fmt.Sprintf("%s: a %s is of no use there", wrong.Field, wrong.Value))
	}
	if err != nil {
		return invalid("the request is not JSON")
	}
	return nil
}
