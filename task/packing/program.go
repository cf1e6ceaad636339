package packing

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/evoalloc/evoalloc/eval"
)

// entry is the function that tabulates the priorities of a program. A program may redefine it, or replace what it uses,
// but can only bring about another table.
const entry = "evoalloc_table"

//go:embed driver.js
var javascriptDriver string

//go:embed driver.py
var pythonDriver string

// drivers define entry, by language, behind a program.
var drivers = map[string]string{"javascript": javascriptDriver, "python": pythonDriver}

// rules are what programs may use, by language.
var rules = map[string]string{
	"javascript": "The program is one script in JavaScript (ES2023), without any library: no imports, files, " +
		"network, timers or eval. It is stopped after a few seconds.",
	"python": "The program is one module in Python 3 with the standard library; files and the network are not " +
		"there. It is stopped after a time limit.",
}

// tabulating runs a program followed by the driver of its language, so that line numbers in error messages are the
// program's.
type tabulating struct {
	eval.Runner
	language string
}

// module matches a JavaScript program with exports, in which the driver must be exported too.
var module = regexp.MustCompile(`(?m)^[ \t]*export\b`)

// Run implements [eval.Runner].
func (t tabulating) Run(ctx context.Context, program, entry string) (json.RawMessage, error) {
	driven := program + "\n" + drivers[t.language]
	if t.language == "javascript" && module.MatchString(program) {
		driven += "export { " + entry + " };\n"
	}
	return t.Runner.Run(ctx, driven, entry)
}

func (t tabulating) String() string { return fmt.Sprintf("tabulating(%v)", t.Runner) }
