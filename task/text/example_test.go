package text_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/text"
)

// shouter stands in for a model: it repeats what it is told, in capitals if the prompt asks for them.
var shouter = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	reply := req.Messages[len(req.Messages)-1].Content
	if strings.Contains(req.Messages[0].Content, "capital letters") {
		reply = strings.ToUpper(reply)
	}
	return answered(reply), nil
})

// reflective stands in for a model that reads the feedback: it adds what the feedback asks for to the prompt.
var reflective = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	asked := req.Messages[len(req.Messages)-1].Content
	prompt, err := task.ParseProgram(asked, "")
	_, feedback, _ := strings.Cut(asked, "feedback: ")
	feedback, _, _ = strings.Cut(feedback, "\n")
	return answered(task.Fence(prompt+"\n"+feedback, "")), err
})

func answered(text string) llm.Reply {
	return llm.Reply{Text: text, Attempts: []llm.Attempt{{Status: llm.OK, MaxTokens: 100,
		Usage: &llm.Usage{PromptTokens: 20, CompletionTokens: 5}}}}
}

// words are nine cases, three to a set.
func words() text.Sets {
	var cases []text.Case
	for _, w := range strings.Fields("one two three four five six seven eight nine") {
		cases = append(cases, text.Case{ID: w, Input: w, Want: strings.ToUpper(w)})
	}
	return text.Divide(cases)
}

// A prompt is evolved like any other program.
func Example() {
	sets := words()
	t, err := text.New(text.Config{
		Name: "shout", Initial: "Repeat the word.", Target: shouter,
		Train: sets.Train, Validation: sets.Validation, HeldOut: sets.HeldOut,
		Score: func(c text.Case, reply string) (score float64, feedback string) {
			if reply == c.Want {
				return 1, ""
			}
			return 0, "Write it in capital letters."
		},
	})
	if err != nil {
		panic(err)
	}
	arm, err := evolve.NewGreedy(evolve.GreedyConfig{Task: t, LLM: reflective, N: 2})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	result, err := evolve.Run(ctx, evolve.Config{Arms: []evolve.Arm{arm}, Budget: evolve.Budget{Rounds: 1}})
	if err != nil {
		panic(err)
	}
	held, _, err := task.HeldOut(ctx, t, result.Best.Program)
	fmt.Println(result.Best.Program)
	fmt.Println("validation", result.Best.Result.Score, "held out", held.Score, err)
	fmt.Println(result.Calls, "calls, of which", result.Calls-2, "by the target")
	// Output:
	// Repeat the word.
	// Write it in capital letters.
	// validation 1 held out 1 <nil>
	// 14 calls, of which 12 by the target
}

// GEPA on prompts: a child has to beat its parent on three train cases before it is evaluated, and the archive keeps
// the eight best.
func ExampleTask_Minibatch() {
	sets := words()
	t, err := text.New(text.Config{
		Name: "shout", Initial: "Repeat the word.", Target: shouter, Score: text.Exact,
		Train: sets.Train, Validation: sets.Validation, HeldOut: sets.HeldOut,
	})
	if err != nil {
		panic(err)
	}
	p, err := population.New(population.Config{
		Task: t, LLM: reflective, N: 1, Archive: population.Top(8), Select: population.Uniform(),
		Gates: []population.Gate{population.Screen{On: func(v *population.View) eval.Evaluator {
			return t.Minibatch(v.Birth, 3)
		}}},
	})
	if err != nil {
		panic(err)
	}
	result, err := evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{p}, Budget: evolve.Budget{Rounds: 1}})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Arms[0].Generations[0].Children[0].Err)
	// Output: refused by Screen: on the cases that come first it scores 0, and its parent 0
}

// A prompt of several parts is one text, in which a search may change one part at a time.
func ExampleJoinParts() {
	program := text.JoinParts([]text.Part{{Name: "role", Text: "You are a clerk."}, {Name: "rules", Text: "Be brief."}})
	fmt.Println(program)
	parts, err := text.SplitParts(program)
	fmt.Printf("%q %v\n", parts, err)
	// Output:
	// --- part: role ---
	// You are a clerk.
	// --- part: rules ---
	// Be brief.
	// [{"role" "You are a clerk."} {"rules" "Be brief."}] <nil>
}

// Cases of one's own are lines of JSON.
func ExampleReadCases() {
	sets, err := text.ReadCases(strings.NewReader(`{"id": "a", "set": "train", "input": "1 + 1", "want": "2"}
{"set": "validation", "input": "2 + 2", "want": 4}
{"set": "held_out", "input": "3 + 3", "want": {"sum": 6}}`))
	fmt.Println(sets.Train, sets.Validation, sets.HeldOut, err)
	// Output: [{a 1 + 1 2}] [{line 2 2 + 2 4}] [{line 3 3 + 3 {"sum": 6}}] <nil>
}

// Cases are dealt out by their IDs, whatever their order.
func ExampleDivide() {
	sets := text.Divide([]text.Case{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}})
	fmt.Println(len(sets.Train), len(sets.Validation), len(sets.HeldOut))
	// Output: 2 1 1
}

// A reply counts if it is what the case wants.
func ExampleExact() {
	c := text.Case{Want: "4"}
	for _, reply := range []string{" 4\n", "It is 4."} {
		score, feedback := text.Exact(c, reply)
		fmt.Printf("%v %q\n", score, feedback)
	}
	// Output:
	// 1 ""
	// 0 "the reply should be \"4\""
}

// An evaluator in the place of Score reads a case with its reply.
func ExampleGraded() {
	sets := words()
	t, err := text.New(text.Config{
		Name: "shout", Initial: "Use capital letters.", Target: shouter,
		Train: sets.Train, Validation: sets.Validation, HeldOut: sets.HeldOut,
		Scorer: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			var g text.Graded
			if err := json.Unmarshal([]byte(program), &g); err != nil {
				return eval.Result{}, err
			}
			return eval.Result{Valid: true, Score: float64(len(g.Reply) - len(g.Input))}, nil
		}),
	})
	if err != nil {
		panic(err)
	}
	r, err := t.Evaluate(context.Background(), t.Initial())
	fmt.Println(r.Score, r.Cases, err)
	// Output: 0 [0 0 0] <nil>
}

// A reply may be the new text of one part.
func ExampleTask_ParseReply() {
	sets := words()
	t, err := text.New(text.Config{
		Name: "shout", Parts: []text.Part{{Name: "role", Text: "You are a crier."},
			{Name: "rules", Text: "Repeat the word."}},
		Target: shouter, Train: sets.Train, Validation: sets.Validation, HeldOut: sets.HeldOut, Score: text.Exact,
	})
	if err != nil {
		panic(err)
	}
	program, _, err := t.ParseReply(task.Reply{Text: "```\nUse capital letters.\n```", Parent: t.Initial(), Part: "rules"})
	fmt.Println(t.PartNames(program), err)
	fmt.Println(program)
	// Output:
	// [role rules] <nil>
	// --- part: role ---
	// You are a crier.
	// --- part: rules ---
	// Use capital letters.
}
