// Agent makes children by sessions: a model reads and edits a folder of files with tools, tries what it has made, and
// submits it. The model is a script, so it runs offline. All that sessions cost is on the books.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os/exec"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/agent"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task/tree"
)

// script is what the model does in a session, one call of a tool after another. It mends two files.
var script = []llm.ToolCall{
	{Name: "list"},
	{Name: "search", Arguments: `{"pattern": "digits"}`},
	{Name: "edit", Arguments: `{"path": "encode.go", "old": "code += string(digits[n%32])", "new": "code = string(digits[n%32]) + code"}`},
	{Name: "try"},
	{Name: "edit", Arguments: `{"path": "decode.go", "old": "i := len(code) - 1; i >= 0; i--", "new": "i := range len(code)"}`},
	{Name: "try"},
	{Name: "submit"},
}

// model answers with the next call of the script: two messages of a session come before each, beside the first two.
var model = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	call := script[min(len(req.Messages)/2-1, len(script)-1)]
	usage := llm.Usage{PromptTokens: llm.PromptTokens(req) / 4, CompletionTokens: 20 + len(call.Arguments)/4}
	return llm.Reply{Calls: []llm.ToolCall{call}, Attempts: []llm.Attempt{{Status: llm.OK, Usage: &usage}}}, nil
})

// score has two points for a code that is right and can be read back, and one for one that can be read back.
func score(out json.RawMessage) eval.Result {
	var rows []map[string]any
	if err := json.Unmarshal(out, &rows); err != nil || len(rows) != 8 {
		return eval.Invalid("not an array of 8 rows: %.60s", out)
	}
	points, n := 0, 1
	for _, r := range rows {
		switch right := r["code"] == strconv.FormatInt(int64(n), 32); {
		case r["back"] == float64(n) && right:
			points += 2
		case r["back"] == float64(n):
			points++
		}
		n *= 7
	}
	return eval.Result{Valid: true, Score: float64(points)}
}

func main() {
	cache := strings.TrimSpace(string(must(exec.Command("go", "env", "GOCACHE").Output())))
	runner := must(command.NewRunner(command.Config{Base: "examples/tree/base", Caches: []string{cache},
		Build: []string{"go", "build", "-o", "codes", "."}, Run: []string{"{build}/codes"},
		Env: []string{"GOCACHE=" + cache, "GOPROXY=off", "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0"}}))
	codes := must(tree.New(tree.Config{Base: "examples/tree/base", Name: "codes", About: "Make the codes right.",
		Open: []string{"*.go"}, Frozen: []string{"main.go"}, Evaluator: eval.Limit(eval.Scored(runner, "", score), 2)}))
	loop := []population.Operator{&agent.Loop{}}
	search := must(population.New(population.Config{Task: codes, LLM: model, N: 1, Operators: loop}))
	result := must(evolve.Run(context.Background(), evolve.Config{Arms: []evolve.Arm{search},
		Budget: evolve.Budget{Calls: 20, TuneEvaluations: 10, Rounds: 1}}))
	fmt.Printf("score %v after %d calls, %d tries and %d evaluations:\n%s", result.Best.Result.Score, result.Calls,
		result.TuneEvaluations, result.Evaluations, eval.Printable(result.Best.Program))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
	return v
}
