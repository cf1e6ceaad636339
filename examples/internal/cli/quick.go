package cli

import (
	"fmt"
	"io"
	"strings"
)

// Quick returns the arguments of a study: args, or those of a short study if args is empty. Then it prints these
// arguments, and those of the whole study.
func Quick(out io.Writer, command string, args []string, quick, whole string) []string {
	if len(args) > 0 {
		return args
	}
	fmt.Fprintf(out, "without flags, a short study: %s %s\nthe whole study: %s %s (--help-all has all flags)\n\n",
		Typed(command), quick, Typed(command), whole)
	return strings.Fields(quick)
}
