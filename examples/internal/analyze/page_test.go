package analyze

import (
	"bytes"
	"strings"
	"testing"
)

// A page of the results has what the program prints: each figure, a table a method, and what cannot be said.
func TestStudies(t *testing.T) {
	studies, err := Studies(t.Context(), "testdata/results")
	if err != nil {
		t.Fatal(err)
	}
	if len(studies) != 1 {
		t.Fatalf("%d studies, want 1: all results are of one task and model", len(studies))
	}
	s := studies[0]
	if s.Name != "cp, offline" || len(s.Facts) < 2 {
		t.Errorf("study %q with the facts %v", s.Name, s.Facts)
	}
	if len(s.Figures) < 3 {
		t.Errorf("%d figures, want those of the surface, the curves and the rounds", len(s.Figures))
	}
	for _, f := range s.Figures {
		if !bytes.Contains(f.SVG, []byte("<svg")) || f.Caption == "" || strings.HasPrefix(f.Caption, "cp") {
			t.Errorf("figure %s has the caption %q and %d bytes", f.Name, f.Caption, len(f.SVG))
		}
	}
	for _, table := range s.Tables {
		if len(table.Head) != len(table.Numeric) || len(table.Rows) == 0 {
			t.Errorf("table %s has %d columns, %d alignments and %d rows", table.Name, len(table.Head), len(table.Numeric),
				len(table.Rows))
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Head) {
				t.Errorf("table %s: row %v does not fit %v", table.Name, row, table.Head)
			}
		}
	}
	again, err := Studies(t.Context(), "testdata/results")
	if err != nil || !bytes.Equal(again[0].Figures[0].SVG, s.Figures[0].SVG) {
		t.Errorf("the figure differs the second time (%v)", err)
	}
}
