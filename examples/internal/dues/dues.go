// Package dues is a small task whose programs are prompts, and a stand-in for the model that answers by them.
//
// A case is a record, such as "ada fox | 1234.5 | 2024-03-09". Its right answer is a sentence: "Ada Fox has owed
// 1,234.50 since 9 March 2024." Twenty cases are for training, twenty for the score, and twenty are held out.
package dues

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task/text"
)

// Initial is the prompt that a search begins with.
const Initial = "Answer with the record."

// About says what the prompt is for.
const About = "The input is a record of a person, an amount and a date. The reply is to be one sentence that says " +
	"since when the person has owed how much."

//go:embed cases.jsonl
var cases []byte

// Cases returns the cases.
func Cases() text.Sets {
	sets, err := text.ReadCases(bytes.NewReader(cases))
	if err != nil {
		panic(fmt.Sprintf("dues: %v", err)) // the file is part of the package
	}
	return sets
}

// Config describes the task with a target, which may be changed before it goes to [text.New].
func Config(target llm.LLM) text.Config {
	s := Cases()
	return text.Config{Name: "text", Initial: Initial, About: About, Target: target, Train: s.Train,
		Validation: s.Validation, HeldOut: s.HeldOut, Score: Score}
}

// A check is one thing that a reply should be.
type check struct {
	holds func(want, reply string) bool
	says  string // if it is not
}

var checks = []check{
	{func(_, reply string) bool { return !strings.HasPrefix(reply, greeting) }, "Say nothing else, and do not greet."},
	{func(want, reply string) bool { return strings.Contains(strings.ToLower(reply), verb(want)) },
		"Write a sentence with has owed and since."},
	{func(want, reply string) bool { return strings.HasPrefix(reply, person(want)) },
		"Begin each name with a capital letter."},
	{func(want, reply string) bool { return strings.Contains(reply, amount(want)) }, ""},
	{func(want, reply string) bool { return strings.Contains(reply, date(want)) },
		"Write the month of the date as a word."},
	{func(want, reply string) bool { return reply == want }, ""},
}

// Score returns the share of checks that a reply passes, and a sentence for each of the others.
func Score(c text.Case, reply string) (score float64, feedback string) {
	reply = strings.TrimSpace(reply)
	passed, says := 0, []string(nil)
	for i, check := range checks {
		switch {
		case check.holds(c.Want, reply):
			passed++
		case i == 3:
			says = append(says, amountAdvice(c.Want, reply))
		case check.says != "":
			says = append(says, check.says)
		}
	}
	return float64(passed) / float64(len(checks)), strings.Join(says, "\n")
}

// amountAdvice says what is wrong with an amount.
func amountAdvice(want, reply string) string {
	switch a := amount(want); {
	case a == "nothing":
		return "Call an amount of zero nothing."
	case strings.Contains(want, "been owed"):
		return "Where the amount is negative, say has been owed and leave out the sign."
	case strings.Contains(a, ",") && !strings.Contains(reply, ","):
		return "Put commas between thousands."
	default:
		return "Give amounts two decimals."
	}
}

// The fields of an answer that is wanted: "NAME has owed AMOUNT since DATE."
func person(want string) string {
	name, _, _ := strings.Cut(want, " has ")
	return name
}

func verb(want string) string {
	if strings.Contains(want, "been owed") {
		return " has been owed "
	}
	return " has owed "
}

func amount(want string) string {
	_, rest, _ := strings.Cut(want, " owed ")
	a, _, _ := strings.Cut(rest, " since ")
	return a
}

func date(want string) string {
	_, d, _ := strings.Cut(strings.TrimSuffix(want, "."), " since ")
	return d
}
