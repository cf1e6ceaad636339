package command_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
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
	r, err := command.NewRunner(command.Config{Args: []string{"sh", "{program}", "{entry}"}, Logger: slog.New(slog.DiscardHandler)})
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

func ExampleConfig() {
	_, err := command.NewEvaluator(command.Config{Args: []string{"sh", "evaluate.sh"}})
	fmt.Println(err)
	// Output:
	// command: Config.Args is ["sh" "evaluate.sh"]: need {program}, where the path of the candidate's file goes
}

// Candidates in C, each compiled and run in a folder of its own. As files cannot be made executable there,
// what the compiler makes is written into run, an empty file of the template that is.
func ExampleConfig_compiled() {
	r, err := command.NewRunner(command.Config{
		Args:      []string{"sh", "-c", "cc -O2 -o {folder}/a.out {program} -lm && cat {folder}/a.out > {folder}/run && {folder}/run {entry}"},
		File:      "candidate.c",
		Template:  "template",
		Timeout:   30 * time.Second, // with compiling
		Memory:    1 << 30,          // of one process
		Processes: 16,               // the compiler has some
		Env:       []string{"OMP_NUM_THREADS=1", "LD_LIBRARY_PATH"},
		Isolation: command.Strict,
	})
	if err != nil {
		log.Fatal(err) // which names what is missing: the command, the template, a mechanism
	}
	out, err := r.Run(context.Background(), "#include <stdio.h>\nint main() { puts(\"[1, 2]\"); }", "points")
	fmt.Printf("%s %v\n", out, err)
}

// A flag for the level of isolation.
func ExampleIsolation() {
	flags := flag.NewFlagSet("search", flag.ContinueOnError)
	var level command.Isolation
	flags.TextVar(&level, "isolation", command.BestEffort, "besteffort, strict or none")
	fmt.Println(level, level == command.BestEffort)
	err := flags.Parse([]string{"-isolation", "strict"})
	fmt.Println(level, level == command.Strict, err)
	// Output:
	// besteffort true
	// strict true <nil>
}

// A report is for people, and for programs that need a mechanism.
func ExampleReport() {
	e, err := command.NewEvaluator(command.Config{Args: []string{"sh", "{program}"}, Isolation: command.None, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Isolation().Has("landlock"), e.Isolation().Has("process group"))
	// Output:
	// false true
}
