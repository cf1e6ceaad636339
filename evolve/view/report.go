package view

import (
	"fmt"
	"io"
)

// Report writes p as one HTML file that needs no network, now or later: its style, its script and its data are in it.
// The same page makes the same bytes. What is in it comes from [Log.Saved], [FromResult].
func Report(w io.Writer, p Page) error {
	p.Live = false
	if err := render(w, p); err != nil {
		return fmt.Errorf("view: the report: %w", err)
	}
	return nil
}
