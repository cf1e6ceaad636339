package task_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// vowels scores a text by how many vowels it has.
func vowels(_ context.Context, program string) (eval.Result, error) {
	n := 0
	for _, r := range program {
		if strings.ContainsRune("aeiou", r) {
			n++
		}
	}
	return eval.Result{Valid: true, Score: float64(n)}, nil
}

func newVowels() task.Task {
	t, err := task.New(task.Spec{
		Name:      "vowels",
		Language:  "text",
		System:    "You write texts with many vowels.",
		Initial:   "hello",
		Evaluator: eval.Func(vowels),
	})
	if err != nil {
		panic(err)
	}
	return t
}

// A task is a name, a program to start from and a way to score it.
func ExampleNew() {
	t := newVowels()
	r, err := t.Evaluate(context.Background(), t.Initial())
	if err != nil {
		panic(err)
	}
	parent := eval.Candidate{Program: t.Initial(), Result: r}
	for _, m := range t.Prompt(task.Request{Parents: []eval.Candidate{parent}}) {
		fmt.Printf("[%s]\n%s\n", m.Role, m.Content)
	}
	program, err := t.Parse("More vowels:\n\n```text\naoelu\n```\n")
	fmt.Println(program, err)
	// Output:
	// [system]
	// You write texts with many vowels.
	// [user]
	// Current program, with score 2.000000 (higher is better):
	//
	// ```text
	// hello
	// ```
	//
	// Rewrite the program to raise its score.
	// Reply with one complete program in one fenced block tagged text.
	//
	// aoelu <nil>
}

func ExampleSpec() {
	_, err := task.New(task.Spec{Name: "my task", Initial: "hello", Evaluator: eval.Func(vowels)})
	fmt.Println(err)
	// Output: task: Spec.Name is "my task": need letters and digits, with -, _ and . after the first
}

// An instruction of one's own takes the place of the default one.
func ExampleAsk() {
	ask := task.Request{Instruction: "Write something quite different."}
	prompt := newVowels().Prompt(ask)
	fmt.Println(prompt[len(prompt)-1].Content)
	// Output:
	// Current program:
	//
	// ```text
	// hello
	// ```
	//
	// Write something quite different.
	// Reply with one complete program in one fenced block tagged text.
}

// What is added to the default instruction comes after it.
func ExampleAsk_instruction() {
	ask := task.Request{Instruction: task.DefaultInstruction + " Use no letter twice."}
	prompt := newVowels().Prompt(ask)
	_, end, _ := strings.Cut(prompt[len(prompt)-1].Content, "```\n\n")
	fmt.Print(end)
	// Output:
	// Rewrite the program to raise its score. Use no letter twice.
	// Reply with one complete program in one fenced block tagged text.
}

// With Feedback the model sees what the evaluator says of a parent, cut to so many bytes.
func ExampleSpec_feedback() {
	t, err := task.New(task.Spec{Name: "vowels", Initial: "hello", Evaluator: eval.Func(vowels), Feedback: 60})
	if err != nil {
		panic(err)
	}
	parent := eval.Candidate{Program: "hello", Result: eval.Result{
		Valid: true, Score: 2,
		Metrics:   map[string]float64{"vowels": 2, "length": 5},
		Artifacts: map[string]string{"hint": "h, l and l are consonants; so are b, c, d"},
	}}
	prompt := t.Prompt(task.Request{Parents: []eval.Candidate{parent}})
	fmt.Print(prompt[len(prompt)-1].Content)
	// Output:
	// Current program, with score 2.000000 (higher is better):
	//
	// ```
	// hello
	// ```
	//
	// > length: 5
	// > vowels: 2
	// > hint:
	// > h, l and l are consonants; so a...
	//
	// Rewrite the program to raise its score.
	// Reply with one complete program in one fenced block.
}

// At most four evaluations run at once. Wrappers of
// package eval go around the task's own evaluator, which is the task itself.
func ExampleWithEvaluator() {
	t := newVowels()
	t = task.WithEvaluator(t, eval.Limit(t, 4))
	r, err := t.Evaluate(context.Background(), "aeiou")
	fmt.Println(t, r.Score, err)
	// Output: WithEvaluator(Task(vowels, text), Limit(Task(vowels, text), 4)) 5 <nil>
}

// polite is a task with a prompt of its own. Unwrap lets As see the task inside.
type polite struct{ task.Task }

func (p polite) Unwrap() task.Task { return p.Task }

func (p polite) Prompt(ask task.Request) []llm.Message {
	return append(p.Task.Prompt(ask), llm.Message{Role: llm.User, Content: "Please."})
}

// A task of one's own embeds another and changes what it wants to.
func ExampleTask() {
	t := polite{newVowels()}
	prompt := t.Prompt(task.Request{})
	fmt.Println(t.Name(), prompt[len(prompt)-1].Content)
	// Output: vowels Please.
}

// As finds what a task can do besides, whatever is wrapped around it.
func ExampleAs() {
	t := polite{newVowels()}
	_, itself := task.As[polite](t)
	_, inside := task.As[task.ReplyParser](t)
	_, neither := task.As[interface{ Fingerprint() string }](t)
	fmt.Println(itself, inside, neither)
	// Output: true true false
}

func ExampleExt() {
	fmt.Println(task.Ext(newVowels()), task.Ext(polite{newVowels()}))
	// Output: .txt .txt
}

// The language of a file that somebody names, for a task that is made of it.
func ExampleLanguageOf() {
	for _, ext := range []string{".py", ".JS", ".cc", ".xyz"} {
		fmt.Printf("%q ", task.LanguageOf(ext))
	}
	// Output: "python" "javascript" "c++" ""
}

func ExampleParseProgram() {
	reply := "<think>Perhaps\n```js\nf(1)\n```\n?</think>\nTry this:\n~~~ JS title=\"a\"\nf(2)\n~~~"
	fmt.Println(task.ParseProgram(reply, "javascript"))
	// Output: f(2) <nil>
}

// The fence is longer than any in the program.
func ExampleFence() {
	fmt.Println(task.Fence("// ```", "js"))
	// Output:
	// ````js
	// // ```
	// ````
}

// A model drafts first and corrects last.
func ExampleReply() {
	const parent = "def f(x):\n    return x\n"
	reply := "<think>\n2 * x?\n</think>\n```python\ndef f(x):\n    return 2x\n```\nNo, like this:\n\n" +
		"```python\ndef f(x):\n    return 2 * x\n```\nTry it:\n```python\nprint(f(2))\n```\n"
	program, _, err := task.Reply{Text: reply, Parent: parent, Language: "python"}.Parse()
	fmt.Println(program, err)
	// Output:
	// def f(x):
	//     return 2 * x <nil>
}

// The reply changes one line of the parent.
func ExampleReply_diff() {
	reply := `Smaller:
<<<<<<< SEARCH
y = 2
=======
y = 1
>>>>>>> REPLACE
`
	for _, parent := range []string{"x = 1\ny = 2\n", "if x:\n    y=2\n", "x = 1\ny = 3\n"} {
		program, _, err := task.Reply{Text: reply, Parent: parent, Form: task.AsDiff}.Parse()
		fmt.Printf("%q %v\n", program, err)
	}
	// Output:
	// "x = 1\ny = 1\n" <nil>
	// "if x:\n    y = 1\n" <nil>
	// "" task: no program in the reply: block 1 of 1 matches nothing: its line "y = 2" is not in the program
}

// A reply that changes nothing but what it must not costs no evaluation.
func ExampleErrUnchanged() {
	const parent = "seed(1)\n# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\n"
	t, err := task.New(task.Spec{Name: "marked", Language: "python", Initial: parent, Evaluator: eval.Func(vowels)})
	if err != nil {
		panic(err)
	}
	reply := task.Fence(strings.Replace(parent, "seed(1)", "seed(2)", 1), "python")
	_, err = t.Parse(reply)
	fmt.Println(errors.Is(err, task.ErrUnchanged), err)
	// Output: true task: the reply changes nothing between the EVOLVE-BLOCK markers: what lies outside is kept as it was
}

// Tasks whose replies are diffs need the parent to read them.
func ExampleParse() {
	t, err := task.New(task.Spec{Name: "vowels", Initial: "hello\n", Evaluator: eval.Func(vowels), Diffs: true})
	if err != nil {
		panic(err)
	}
	reply := "<<<<<<< SEARCH\nhallo\n=======\naoelu\n>>>>>>> REPLACE"
	program, _, err := task.Parse(t, task.Reply{Text: reply, Parent: "hallo\n"})
	fmt.Printf("%q %v\n", program, err)
	// Output: "aoelu\n" <nil>
}

// A task of one's own may read replies with the parent at hand.
type appended struct{ task.Task }

func (appended) ParseReply(r task.Reply) (program, mended string, err error) {
	return r.Parent + r.Text, "", nil
}

func ExampleReplyParser() {
	program, _, err := task.Parse(appended{newVowels()}, task.Reply{Text: "cd", Parent: "ab"})
	fmt.Println(program, err)
	// Output: abcd <nil>
}
