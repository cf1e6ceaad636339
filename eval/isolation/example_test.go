package isolation_test

import (
	"flag"
	"fmt"
	"log"
	"log/slog"

	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/eval/isolation"
)

// A flag sets a level by its name.
func ExampleLevel() {
	flags := flag.NewFlagSet("search", flag.ContinueOnError)
	var level isolation.Level
	flags.TextVar(&level, "isolation", isolation.BestEffort, "besteffort, strict or none")
	fmt.Println(level, level == isolation.BestEffort)
	err := flags.Parse([]string{"-isolation", "strict"})
	fmt.Println(level, level == isolation.Strict, err)
	fmt.Println(level.UnmarshalText([]byte("total")))
	// Output:
	// besteffort true
	// strict true <nil>
	// isolation: level "total": want one of besteffort, strict, none
}

// A report is for people, and for programs that need a mechanism.
func ExampleReport() {
	e, err := command.NewEvaluator(command.Config{
		Run: []string{"sh", "{program}"}, Isolation: isolation.None, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Isolation().Has("landlock"), e.Isolation().Has("process group"))
	// Output:
	// false true
}
