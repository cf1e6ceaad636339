package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
)

// An Output is what a command printed, as a [Parse] reads it.
type Output struct {
	Text  string
	Usage *llm.Usage // nil if it reports none
	// what it reports to have cost, in the currency of the budget, which for most is USD; 0 if it does not
	Money float64
	Model string // the model that it reports; "" if it does not
}

// A Parse reads the standard output of a model or an agent that is a command. With an error, the Output has what can be
// read nevertheless, since that was paid for.
type Parse func(stdout []byte) (Output, error)

// errSilent is the error of an output without a text.
var errSilent = errors.New("the command printed no reply")

// report returns what o reports, as far as it is possible.
func (o Output) report() (*llm.Usage, float64) {
	money := o.Money
	if !(money > 0) || math.IsInf(money, 0) {
		money = 0
	}
	if o.Usage == nil {
		return nil, money
	}
	u := o.Usage.Clean()
	return &u, money
}

// controls are sequences by which a command colours its output or moves the cursor.
var controls = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)`)

// Text is a [Parse] for commands that print the reply and nothing else: its text without a terminal's sequences.
func Text(stdout []byte) (Output, error) {
	switch {
	case bytes.IndexByte(stdout, 0) >= 0:
		return Output{}, errors.New("the command printed bytes that are no text")
	case len(bytes.TrimSpace(stdout)) == 0:
		return Output{}, errSilent
	}
	text := strings.ToValidUTF8(string(controls.ReplaceAll(stdout, nil)), "\ufffd")
	return Output{Text: text}, nil
}

// Fields are the places of a reply in a JSON object: names joined by dots, as in "usage.input_tokens". A place that is
// "" or not there is left out.
type Fields struct {
	Text, Model, Money string
	Failed             string   // a field that is true, or a text that is not empty, if the command failed
	Prompt             []string // prompt tokens are the sum of these
	Cached, Completion string
}

// JSON returns a [Parse] for commands that print an object with these fields, alone or as the last line that is one.
func JSON(f Fields) Parse {
	return func(stdout []byte) (Output, error) {
		object, err := lastObject(stdout)
		if err != nil {
			return Output{}, err
		}
		return f.read(object)
	}
}

// Claude is a [Parse] for "claude -p --output-format json", and stream-json, whose last line is the same object.
func Claude(stdout []byte) (Output, error) {
	return JSON(Fields{
		Text: "result", Money: "total_cost_usd", Failed: "is_error",
		Prompt:     []string{"usage.input_tokens", "usage.cache_creation_input_tokens", "usage.cache_read_input_tokens"},
		Cached:     "usage.cache_read_input_tokens",
		Completion: "usage.output_tokens",
	})(stdout)
}

func (f Fields) read(object map[string]any) (Output, error) {
	var o Output
	o.Text, _ = at(object, f.Text).(string)
	o.Model, _ = at(object, f.Model).(string)
	o.Money, _ = at(object, f.Money).(float64)
	var u llm.Usage
	known := false
	count := func(to *int, place string) {
		if n, ok := at(object, place).(float64); ok && n >= 0 {
			*to, known = *to+int(min(n, 1<<30)), true
		}
	}
	for _, place := range f.Prompt {
		count(&u.PromptTokens, place)
	}
	count(&u.CachedTokens, f.Cached)
	if count(&u.CompletionTokens, f.Completion); known {
		o.Usage = &u
	}
	switch failed := at(object, f.Failed).(type) {
	case bool:
		if failed {
			return o, fmt.Errorf("the command reports an error: %s", excerpt(o.Text))
		}
	case string:
		if failed != "" {
			return o, fmt.Errorf("the command reports an error: %s", excerpt(failed))
		}
	}
	if strings.TrimSpace(o.Text) == "" {
		return o, errSilent
	}
	return o, nil
}

// at returns the value at a place; nil if it is not there.
func at(object map[string]any, place string) any {
	var v any = object
	for name := range strings.SplitSeq(place, ".") {
		fields, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = fields[name]
	}
	return v
}

// lastObject returns the object that stdout is, or else its last line that is one.
func lastObject(stdout []byte) (object map[string]any, err error) {
	if json.Unmarshal(stdout, &object) == nil && object != nil {
		return object, nil
	}
	rest := bytes.TrimSpace(stdout)
	if len(rest) == 0 {
		return nil, errSilent
	}
	for len(rest) > 0 {
		i := bytes.LastIndexByte(rest, '\n')
		line := bytes.TrimSpace(rest[i+1:])
		object = nil
		if len(line) > 0 && line[0] == '{' && json.Unmarshal(line, &object) == nil {
			return object, nil
		}
		rest = rest[:max(i, 0)]
	}
	return nil, fmt.Errorf("no line of the output is a JSON object: %s", excerpt(string(stdout)))
}

// excerpt returns the beginning of text in one line.
func excerpt(text string) string {
	const most = 200
	line := []rune(printable.Line(strings.ToValidUTF8(text[:min(len(text), 4*most)], "")))
	if len(line) > most {
		return string(line[:most]) + "..."
	}
	return string(line)
}
