package view

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoalloc/evoalloc/internal/browsertest"
)

// reported opens a saved report in a browser and waits until its script has shown it.
func reported(t testing.TB, p pageData) *browsertest.Tab {
	t.Helper()
	tab := browsertest.Open(t)
	tab.Go(saved(t, p))
	tab.Wait("document.body.dataset.ready")
	return tab
}

// saved writes a report to a file and returns its address.
func saved(t testing.TB, p pageData) string {
	t.Helper()
	var b bytes.Buffer
	if err := render(&b, p); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// unharmed fails the test if the page asked a network for anything, logged an error, or opened a dialog.
func unharmed(t testing.TB, tab *browsertest.Tab) {
	t.Helper()
	if asked, faults, dialogs := tab.Requests(), tab.Faults(), tab.Dialogs(); len(asked)+len(faults)+len(dialogs) > 0 {
		t.Errorf("the page asked for %q, logged %q, and opened %q", asked, faults, dialogs)
	}
}

func TestReportShowsARun(t *testing.T) {
	run := synthetic(400, 4, 1)
	run.Name, run.Facts = "bandit/cp/m/challenge_C64_T8_K4_seed0", append(run.Facts, Fact{Name: "Task", Value: "cp"},
		Fact{Name: "breadth", Value: "Adaptive: second 0", Setting: true})
	tab := reported(t, pageData{Title: "A run", Runs: []runState{run}})
	unharmed(t, tab)
	for what, script := range map[string]string{
		"the best score":        "document.querySelector('#answer dd').textContent !== ''",
		"the task and method":   "document.title + document.querySelector('h1').textContent === 'cp: challengecp: challenge'",
		"the running best":      "document.querySelector('#curves canvas').getBoundingClientRect().top < 600",
		"the legend's values":   "[...document.querySelectorAll('.u-value')].every(v => /\\d/.test(v.textContent))",
		"the settings apart":    "!!document.querySelector('#settings .fact') && !/Adaptive/.test(answer.textContent)",
		"all parts of the page": "[...document.querySelectorAll('.card')].filter(c => !c.hidden).length >= 9",
	} {
		if !browsertest.Eval[bool](tab, script) {
			t.Errorf("%s is not shown: %s", what, browsertest.Eval[string](tab, "document.body.innerText"))
		}
	}
}
