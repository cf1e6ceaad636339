// Package house_test checks the repository as a whole: which package imports which, how large each is, and that the
// docs name what exists.
package house_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// TestMain runs the tests at the module's root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	notrun.SayLong()
	os.Exit(code)
}
