package report

import "io"

// What tests name of a file's parts.
type (
	Children = childRows
	Last     = lastChild
)

// Write writes v to w as Save does to a file.
func Write(w io.Writer, v any) error { return write(w, v) }
