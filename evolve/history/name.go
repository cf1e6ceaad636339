package history

import (
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// mostName is how many bytes a name has.
const mostName = 300

// Name returns text that somebody else wrote in one line that is fit to be shown, cut to a length that a table can
// hold.
func Name(s string) string {
	if len(s) > 4*mostName {
		s = s[:4*mostName]
	}
	return Cut(printable.Line(s), mostName)
}

// Label returns the name of a label. Journals keep the first eval.MaxName bytes of one.
func Label(s string) string {
	if len(s) > eval.MaxName {
		s = strings.ToValidUTF8(s[:eval.MaxName], "")
	}
	return Name(s)
}

// Cut returns s in at most so many bytes, with a mark if there was more.
func Cut(s string, most int) string {
	const mark = " …"
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len(mark)], "") + mark
}
