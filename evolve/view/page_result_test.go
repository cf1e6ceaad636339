package view

import (
	"os"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/browsertest"
)

// A result has no programs. The page says that what a step changed is not known, and which file has it, where the score
// rose above all: not that nothing changed.
func TestUnknownChanges(t *testing.T) {
	data, err := os.ReadFile("../testdata/bandit.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := fromResult("1", "ei_C64.json", data)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Line) < 2 || s.Line[0].Row != -1 || s.Texts != "ei_C64.journal" {
		t.Fatalf("the line is %+v, and the programs are in %q", s.Line, s.Texts)
	}
	for i, step := range s.Line[1:] {
		if step.Diff != nil {
			t.Errorf("step %d: the changes are %v, and cannot be known", i+1, step.Diff)
		}
	}
	tab := reported(t, pageData{Title: "A result", Runs: []runState{s}})
	for i := range s.Line {
		tab.Click("[data-step='" + string(rune('0'+i)) + "']")
		tab.Wait("document.querySelector('[data-step=\"" + string(rune('0'+i)) + "\"][aria-selected=true]')")
		tab.Wait("document.querySelector('#champion').innerText.includes('ei_C64.journal')")
		said := browsertest.Eval[string](tab, "document.querySelector('#champion').innerText")
		if strings.Contains(said, "did not change") || i > 0 && !strings.Contains(said, "not known") {
			t.Errorf("step %d: the page says %q", i, said)
		}
	}
	unharmed(t, tab)
}
