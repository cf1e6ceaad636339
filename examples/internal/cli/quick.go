package cli

import (
	"fmt"
	"io"
	"strings"
)

// Quick returns the arguments of a study: args, or those of a short one where there are none. It says then what is
// played, and by which flags the whole study is.
func Quick(out io.Writer, command string, args []string, quick, whole string) []string {
	if len(args) > 0 {
		return args
	}
	fmt.Fprintf(out, "without flags, a short study: %s %s\nthe whole study: %s %s (--help-all has all flags)\n\n",
		Typed(command), quick, Typed(command), whole)
	return strings.Fields(quick)
}
