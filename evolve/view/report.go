package view

import (
	"fmt"
	"io"
	"strconv"
)

// A Page is the contents of a saved page: the runs, each a tab, and studies of many runs.
type Page struct {
	Title   string
	Runs    []Run
	Studies []Study
}

// Report writes p as one HTML file that contains its style, script and data and never needs a network. Equal pages make
// equal bytes.
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
