package eval

import "github.com/evoalloc/evoalloc/internal/printable"

// Printable returns text from a candidate or a model in a form that is safe to print on a terminal: lines, tabs and
// visible characters. A [Result]'s Reason is safe already. A program, its artifacts and a model's reply may contain
// sequences that write the clipboard, set the title or clear the screen, and marks that reorder letters, so that a
// terminal shows something other than what runs. Store the original text, and print this.
func Printable(text string) string { return printable.Text(text) }
