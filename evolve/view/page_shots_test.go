package view

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/browsertest"
)

var (
	shots    = flag.String("shots", "", "a folder: have TestScreenshots write pictures of a report there")
	journals = flag.String("journals", "", "journals that -shots shows, comma-separated; a made-up run if left out")
)

// Pictures to be looked at, and the one of the README:
//
//	go test ./evolve/view -run TestScreenshots -shots DIR -journals results/bandit/cp/offline/*.journal
func TestScreenshots(t *testing.T) {
	if *shots == "" {
		t.Skip("asked for with -shots")
	}
	p := pageData{Title: "evoalloc", Runs: []runState{synthetic(400, 4, 1)}}
	if *journals != "" {
		p.Runs = nil
		for _, path := range strings.Split(*journals, ",") {
			p.Runs = append(p.Runs, recorded(t, path))
		}
	}
	tab := reported(t, p)
	for _, look := range []struct {
		name, medium, scheme string
		width, height        int
		whole                bool
		pixels               float64
	}{
		{"light", "screen", "light", 1280, 900, true, 1},
		{"dark", "screen", "dark", 1280, 900, true, 1},
		{"narrow", "screen", "light", 390, 844, true, 1},
		{"paper", "print", "light", 900, 1200, true, 1},
		{"page", "screen", "light", 1140, 1020, false, 0.7}, // the README's
	} {
		tab.Scale(look.width, look.height, look.pixels)
		tab.Media(look.medium, look.scheme)
		tab.Settle()
		tab.Wait("(c => c.width === Math.round(c.parentNode.clientWidth * " +
			"devicePixelRatio))(document.querySelector('canvas.lineage'))")
		tab.Settle()
		if !look.whole {
			browsertest.Eval[bool](tab, "document.querySelector('#allocation').scrollIntoView(), true")
		}
		tab.Screenshot(filepath.Join(*shots, look.name+".png"), look.whole)
	}
	tab.Size(1280, 900)
	tab.Media("screen", "light")
	for i := range p.Runs[1:] { // the other runs, as trees
		browsertest.Eval[bool](tab, fmt.Sprintf("document.querySelector('[data-tab=\"%d\"]').click(), true", i+1))
		browsertest.Eval[bool](tab,
			"((s) => { s.value = 'tree'; s.dispatchEvent(new Event('change')); return true; "+
				"})(document.querySelector('#lineage select'))")
		browsertest.Eval[bool](tab, "document.querySelector('#best tbody tr').click(), true")
		tab.Settle()
		tab.Screenshot(filepath.Join(*shots, fmt.Sprintf("run%d.png", i+1)), true)
	}
	unharmed(t, tab)
}

// recorded returns the state of a journal's run, as a report has it.
func recorded(t *testing.T, path string) runState {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	l := newLog(filepath.Base(path), strings.TrimSuffix(filepath.Base(path), ".journal"))
	for r, err := range record.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		l.Add(r)
	}
	return l.Saved()
}
