package view

import (
	"fmt"
	"io"
	"strconv"
)

// A Page is all that one saved page shows: the runs, each a tab, and the studies made of many runs.
type Page struct {
	Title   string
	Runs    []Run
	Studies []Study
}

// Report writes p as one HTML file that needs no network, now or later: its style, its script and its data are in it.
// The same page makes the same bytes.
func Report(w io.Writer, p Page) error {
	data := pageData{Title: p.Title, Studies: p.Studies}
	for i, r := range p.Runs {
		s := r.state
		s.ID, s.Name = strconv.Itoa(i+1), r.Name
		data.Runs = append(data.Runs, s)
	}
	if err := render(w, data); err != nil {
		return fmt.Errorf("view: the report: %w", err)
	}
	return nil
}
