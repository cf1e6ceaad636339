package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// Stdout returns standard output, cleaned: what candidates and models wrote reaches a terminal without what
// that would obey. Everything that the examples print goes through it or [Stderr].
func Stdout() io.Writer { return clean{os.Stdout} }

// Stderr returns standard error, cleaned as [Stdout] is.
func Stderr() io.Writer { return clean{os.Stderr} }

// Printf is fmt.Printf to [Stdout].
func Printf(format string, args ...any) { fmt.Fprintf(Stdout(), format, args...) }

// clean is a writer that drops of each piece what a terminal would obey and what cannot be seen.
type clean struct{ w io.Writer }

func (c clean) Write(p []byte) (int, error) {
	if _, err := io.WriteString(c.w, printable.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
