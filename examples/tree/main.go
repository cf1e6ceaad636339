// Tree improves a folder of files: a Go module whose codes have their digits in the wrong order, in the file that
// writes them and in the one that reads them. A child that mends one of the two alone is worse than none.
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
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task/tree"
)

// edits are what the stand-in for a model knows. Two of them are right.
var edits = []string{
	edit("encode.go", "\t\tcode += string(digits[n%32])", "\t\tcode = string(digits[n%32]) + code"),
	edit("decode.go", "\tfor i := len(code) - 1; i >= 0; i-- {", "\tfor i := range len(code) {"),
	edit("decode.go", "\treturn n", "\treturn n + 1"),
}

func edit(path, old, new string) string {
	return fmt.Sprintf("### %s\n<<<<<<< SEARCH\n%s\n=======\n%s\n>>>>>>> REPLACE\n", path, old, new)
}

// model answers with the edits whose bits are set in the child's seed.
var model = llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
	reply := llm.Reply{Attempts: []llm.Attempt{{Status: llm.OK}}}
	for i, e := range edits {
		reply.Text += strings.Repeat(e, int(req.Seed>>i&1))
	}
	return reply, nil
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
	runner := must(command.NewRunner(command.Config{
		Base: "examples/tree/base", Build: []string{"go", "build", "-o", "codes", "."}, Run: []string{"{build}/codes"},
		Caches: []string{cache}, Env: []string{"GOCACHE=" + cache, "GOPROXY=off", "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0"},
	}))
	codes := must(tree.New(tree.Config{
		Base: "examples/tree/base", Name: "codes", About: "Make the codes right.",
		Open: []string{"*.go"}, Frozen: []string{"main.go"}, Evaluator: eval.Limit(eval.Scored(runner, "", score), 2),
	}))
	arms := must(evolve.GreedyArms(evolve.GreedyConfig{Task: codes, LLM: model, N: 4, Seed: 1}, 1))
	result := must(evolve.Run(context.Background(), evolve.Config{Arms: arms, Budget: evolve.Budget{Rounds: 8}}))
	fmt.Printf("score %v after %d calls:\n%s", result.Best.Result.Score, result.Calls, eval.Printable(result.Best.Program))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(eval.Printable(err.Error()))
	}
	return v
}
