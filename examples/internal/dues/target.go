package dues

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// greeting is how the stand-in begins a reply unless it is told not to.
const greeting = "Sure! "

// A Target stands in for the model that answers cases. It is far from a language model: it obeys sentences of the
// prompt that have words which it knows, one line at a time and later lines over earlier ones, and repeats the record
// otherwise. What it says depends on the prompt's text and the record alone, and it knows no case. A line such as
//
//	For "ada fox | 1 | 2024-03-09" answer "yes"
//
// it takes for an example, and gives the answer where the input is that, as models do: so a prompt can give answers
// away.
type Target struct {
	Latency time.Duration // how long a reply takes; 0 means that it comes at once
}

var _ llm.LLM = Target{}

// Generate answers the last message by the first.
func (t Target) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, err
	}
	begin := time.Now()
	timer := time.NewTimer(t.Latency)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return llm.Reply{}, ctx.Err()
	}
	prompt, input := req.Messages[0].Content, req.Messages[len(req.Messages)-1].Content
	if found := record.FindAllString(input, -1); len(found) > 0 { // a prompt with a placeholder has the record in its text
		input = found[len(found)-1]
	}
	usage := llm.Usage{}
	for _, m := range req.Messages {
		usage.PromptTokens += tokens(m.Content)
	}
	reply := obey(prompt, input)
	usage.CompletionTokens = tokens(reply)
	return llm.Reply{Text: reply,
		Attempts: []llm.Attempt{{Status: llm.OK, FinishReason: "stop", MaxTokens: llm.DefaultMaxTokens,
			Usage: &usage, Latency: time.Since(begin)}}}, nil
}

// record is what an input looks like.
var record = regexp.MustCompile(`[^|\s]+ [^|\s]+ \| -?[0-9.]+ \| \d{4}-\d\d-\d\d`)

// tokens is one for every four bytes, begun ones included.
func tokens(s string) int { return (len(s) + 3) / 4 }

// String names it.
func (t Target) String() string { return "dues.Target" }

// A style is what a prompt asks for.
type style struct{ greet, sentence, capital, commas, decimals, month, nothing, owed bool }

// obey answers input by prompt.
func obey(prompt, input string) string {
	s := style{greet: true}
	for line := range strings.Lines(prompt) {
		if of, answer, ok := example(line); ok && of == input {
			return answer
		}
		s.heed(strings.ToLower(line))
	}
	reply := s.answer(input)
	if s.greet {
		return greeting + reply
	}
	return reply
}

// example returns the input and the answer of a line that is an example.
func example(line string) (input, answer string, ok bool) {
	_, err := fmt.Sscanf(line, "For %q answer %q", &input, &answer)
	return input, answer, err == nil
}

// heed takes up what a line asks for. A line with "never" turns it off.
func (s *style) heed(line string) {
	has := func(words ...string) bool {
		for _, w := range words {
			if !strings.Contains(line, w) {
				return false
			}
		}
		return true
	}
	on := !has("never")
	set := func(field *bool, asked bool) {
		if asked {
			*field = on
		}
	}
	set(&s.sentence, has("sentence") || has("owed", "since"))
	set(&s.capital, has("capital"))
	set(&s.commas, has("comma"))
	set(&s.decimals, has("two decimals"))
	set(&s.month, has("month", "word"))
	set(&s.nothing, has("zero", "nothing"))
	set(&s.owed, has("negative", "owed"))
	if has("nothing else") || has("not greet") {
		s.greet = false
	}
}

// answer writes a record in the style.
func (s style) answer(input string) string {
	fields := strings.Split(input, " | ")
	if len(fields) != 3 {
		return input
	}
	amount, err := strconv.ParseFloat(fields[1], 64)
	if err != nil {
		return input
	}
	name, verb, date := fields[0], "has owed", s.date(fields[2])
	if s.capital {
		name = capitals(name)
	}
	if s.owed && amount < 0 {
		verb, amount = "has been owed", -amount
	}
	if !s.sentence {
		return strings.Join([]string{name, s.amount(amount), date}, " | ")
	}
	return fmt.Sprintf("%s %s %s since %s.", name, verb, s.amount(amount), date)
}

func capitals(name string) string {
	words := strings.Fields(name)
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

func (s style) date(iso string) string {
	d, err := time.Parse(time.DateOnly, iso)
	if err != nil || !s.month {
		return iso
	}
	return d.Format("2 January 2006")
}

func (s style) amount(v float64) string {
	if s.nothing && v == 0 {
		return "nothing"
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if s.decimals {
		text = strconv.FormatFloat(v, 'f', 2, 64)
	}
	if !s.commas {
		return text
	}
	whole, rest, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest == "" {
		return whole
	}
	return whole + "." + rest
}
