package eval

import "github.com/evoalloc/evoalloc/internal/printable"

// Printable returns text that a candidate or a model wrote as it can be printed on a terminal: its lines and
// tabs, and nothing else but what can be seen. A [Result]'s Reason is such text already. A program, its
// artifacts and a model's reply may hold sequences that write the clipboard, set the title or clear the screen,
// and marks that show letters in another order than they stand in. What a terminal shows is then not what
// runs: keep the text as it is, and print this.
func Printable(text string) string { return printable.Text(text) }
