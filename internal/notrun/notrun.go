// Package notrun has tests say what they did not run: what this machine lacks something for, and what takes long.
package notrun

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Say says in one line which of a package's tests are not run here, why, and how to run them. It is for
// a package's TestMain; the tests themselves call [Skip].
//
// The go command keeps back what passing tests print, unless it is asked with -v. So the line goes
// straight to its standard error as well, where the system has a way to that (Linux).
func Say(pkg, what string, why error, how string) {
	say(Line(pkg, what, why, how))
}

func say(line string) {
	fmt.Println(line)
	if flag.Parse(); !testing.Verbose() {
		tell(os.Getppid(), line)
	}
}

// Line returns what [Say] says.
func Line(pkg, what string, why error, how string) string {
	line := fmt.Sprintf("%s: not run: %s (%v); to run them: %s && go test -count=1 ./%s", pkg, what, why, how, pkg)
	return strings.Join(strings.Fields(line), " ")
}

// Skip skips a test that is among those that [Say] told of. Where $CI is true the test fails: what is to
// be tested there must not be missing. The variable is read in the test, so that the go command does
// not take a result where it is not set for one where it is.
func Skip(t testing.TB) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("not run, although CI is true: see above for what is missing")
	}
	t.SkipNow()
}

// tell writes line to the standard error of the process pid, if that is the go command.
func tell(pid int, line string) {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil || filepath.Base(program) != "go" {
		return
	}
	f, err := standardError(pid)
	if err != nil {
		return // -v shows the line
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}
