package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/eval/isolation"
)

// Any command that prints JSON scores programs in any language.
func ExampleEvaluator() {
	e, err := command.NewEvaluator(command.Config{
		Args:   []string{"awk", "-f", "{program}", "/dev/null"},
		File:   "program.awk",
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, program := range []string{
		`BEGIN { printf "{\"combined_score\": %g, \"note\": \"six times seven\"}", 6 * 7 }`,
		`BEGIN { exit 3 }`,
	} {
		res, err := e.Evaluate(context.Background(), program)
		fmt.Println(res.Score, res.Valid, res.Artifacts["note"], res.Reason, err)
	}
	// Output:
	// 42 true six times seven  <nil>
	// 0 false  exited with status 3 <nil>
}

// A Runner returns what the program printed as data, and Go scores it.
func ExampleRunner() {
	r, err := command.NewRunner(command.Config{Args: []string{"sh", "{program}", "{entry}"},
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	e := eval.Scored(r, "points", func(out json.RawMessage) eval.Result {
		var xs []float64
		if err := json.Unmarshal(out, &xs); err != nil {
			return eval.Invalid("want a list of numbers: %v", err)
		}
		return eval.Result{Score: float64(len(xs)), Valid: true}
	})
	res, err := e.Evaluate(context.Background(), `test "$1" = points && echo "[1, 2, 3]"`)
	fmt.Println(res.Score, res.Valid, err)
	// Output:
	// 3 true <nil>
}

// An Editor's command changes a program as its prompt asks, and what it leaves is the new program.
func ExampleEditor() {
	e, err := command.NewEditor(command.Config{
		Run:    []string{"sh", "-c", `while read -r line; do echo "# $line"; done >> "$0"; echo done`, "{program}"},
		File:   "program.py",
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	out, err := e.Edit(context.Background(), "print(1)\n", command.Job{Prompt: "make it faster\n"})
	fmt.Printf("%q %q %v %v\n", out.Program, out.Stdout, out.Fault == nil, err)
	// Output:
	// "print(1)\n# make it faster\n" "done\n" true <nil>
}

func ExampleConfig() {
	_, err := command.NewEvaluator(command.Config{Args: []string{"sh", "evaluate.sh"}})
	fmt.Println(err)
	// Output:
	// command: Config.Args is ["sh" "evaluate.sh"]: need {program}, where the path of the candidate's file goes
}

// Candidates in C, each compiled in one step and run in another.
func ExampleConfig_compiled() {
	r, err := command.NewRunner(command.Config{
		Build:     []string{"cc", "-O2", "-o", "a.out", "{program}", "-lm"},
		Run:       []string{"{build}/a.out", "{entry}"},
		File:      "candidate.c",
		Timeout:   30 * time.Second, // of each step
		Memory:    1 << 30,          // of one process
		Processes: 16,               // the compiler has some
		Env:       []string{"OMP_NUM_THREADS=1", "LD_LIBRARY_PATH"},
		Isolation: isolation.Strict,
	})
	if err != nil {
		log.Fatal(err) // which names what is missing: the command, a folder, a mechanism
	}
	out, err := r.Run(context.Background(), "#include <stdio.h>\nint main() { puts(\"[1, 2]\"); }", "points")
	fmt.Printf("%s %v\n", out, err)
}

// A scorer reads what the candidate printed, and the files that it left in {run}. It runs when every process of the
// candidate is dead, in a folder and with a HOME that the candidate never had.
func ExampleConfig_scored() {
	e, err := command.NewEvaluator(command.Config{
		Run:    []string{"awk", "-f", "{program}", "/dev/null"},
		Score:  []string{"awk", "{ sum += $1 } END { print sum }", "/dev/stdin", "{run}/more"},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	res, err := e.Evaluate(context.Background(), `BEGIN { print 40; print 2 > "more"; print 1e9 > "other" }`)
	fmt.Println(res.Score, res.Valid, err)
	res, err = e.Evaluate(context.Background(), `BEGIN { print 1e9; exit 3 }`)
	fmt.Println(res.Score, res.Valid, res.Reason, err)
	// Output:
	// 42 true <nil>
	// 0 false Run exited with status 3 <nil>
}
