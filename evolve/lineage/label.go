package lineage

import (
	"bufio"
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// longest is how many bytes of a name or a reason are shown where there is room for one line.
const longest = 200

// line returns s as one line of what can be seen, cut to the length that fits a label.
func line(s string) string {
	// A candidate's text may be megabytes. Only its beginning is shown, so only that is cleaned.
	if len(s) > 4*longest {
		s = s[:4*longest]
	}
	s = printable.Line(s)
	if len(s) <= longest {
		return s
	}
	cut := longest
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// operator returns the name of the operator that made the candidate, in one line.
func (c Candidate) operator() string {
	if c.initial() {
		return ""
	}
	return cmp.Or(line(c.Operator), "rewrite")
}

// score returns the score in few digits, or that it is not valid.
func (c Candidate) score() string {
	switch {
	case c.Valid:
		return strconv.FormatFloat(c.Score, 'g', 6, 64)
	case c.initial() && c.Reason == "":
		return "unscored"
	}
	return "invalid"
}

// flush ends what was written to w, and returns the first error of all of it.
func flush(w *bufio.Writer) error {
	if err := w.Flush(); err != nil {
		return fmt.Errorf("lineage: %w", err)
	}
	return nil
}
