package view

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/browsertest"
)

// Keys of a keyboard, as package kb of chromedp names them.
const (
	keyTab, keyEnter           = "\t", "\r"
	keyDown, keyLeft, keyRight = "\u0301", "\u0302", "\u0303"
)

// focused returns a part of the text of the element that the keyboard is at.
func focused(tab *browsertest.Tab) string {
	return browsertest.Eval[string](tab, "document.activeElement.textContent.slice(0, 80)")
}

func TestKeyboardReachesAll(t *testing.T) {
	s := synthetic(400, 4, 1)
	s.Best = append(s.Best, s.Children.ranked(s.Best[0])...)
	tab := reported(t, pageData{Title: "Keys", Runs: []runState{s, synthetic(100, 2, 5)}})
	// By Tab alone to the table of the best, which is one stop; by arrows in it; Enter selects.
	for range 60 {
		if browsertest.Eval[bool](tab, "document.activeElement.matches('#best tbody tr')") {
			break
		}
		tab.Keys(keyTab)
	}
	if got := focused(tab); !strings.HasPrefix(got, "1") {
		t.Fatalf("Tab does not come to the first row, but to %q", got)
	}
	tab.Keys(keyDown)
	if got := focused(tab); !strings.HasPrefix(got, "2") {
		t.Errorf("the arrow goes to %q, want the second row", got)
	}
	tab.Keys(keyEnter)
	tab.Wait("!document.querySelector('#candidate').hidden && document.querySelector('#best tr.picked')")

	// In the line of the champion.
	browsertest.Eval[bool](tab, "document.querySelector('.steps').focus(), true")
	tab.Keys(keyLeft)
	tab.Wait("document.querySelector('.step[aria-selected=true]').dataset.step === '0'")

	// From run to run.
	browsertest.Eval[bool](tab, "document.querySelector('[role=tab][aria-selected=true]').focus(), true")
	tab.Keys(keyRight)
	tab.Wait("document.querySelector('[role=tab][aria-selected=true]').textContent === 'packing of 100'")
	unharmed(t, tab)
}

// ranked returns the next best valid rows after the best.
func (c childColumns) ranked(best int) (rows []int) {
	for row, score := range c.Score {
		if score != nil && row != best && len(rows) < 5 {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestDarkModeAndPaper(t *testing.T) {
	tab := reported(t, pageData{Title: "Looks", Runs: []runState{synthetic(400, 4, 1)}})
	back := "getComputedStyle(document.body).backgroundColor"
	figure := "document.querySelector('canvas.lineage').toDataURL()"
	looks := map[string][2]string{}
	for _, look := range [][2]string{{"screen", "light"}, {"screen", "dark"}, {"print", "light"}} {
		tab.Media(look[0], look[1])
		tab.Settle()
		looks[look[0]+" "+look[1]] = [2]string{browsertest.Eval[string](tab, back), browsertest.Eval[string](tab, figure)}
	}
	for i, what := range []string{"the page", "the figures"} {
		if looks["screen dark"][i] == looks["screen light"][i] {
			t.Errorf("dark mode does not change %s", what)
		}
	}
	if got := looks["print light"][0]; got != "rgb(255, 255, 255)" {
		t.Errorf("the page is printed on %v, want white", got)
	}
	if n := browsertest.Eval[int](tab,
		"[...document.querySelectorAll('button, nav')].filter(b => b.checkVisibility() && !b.closest('th, td, "+
			"dd')).length"); n > 0 {
		t.Errorf("%d buttons are printed", n)
	}
	unharmed(t, tab)
}

func TestNarrowWindow(t *testing.T) {
	tab := browsertest.Open(t)
	tab.Size(360, 740)
	tab.Go(saved(t, pageData{Title: "A narrow window", Runs: []runState{synthetic(400, 12, 1)}}))
	tab.Wait("document.body.dataset.ready")
	tab.Settle()
	if wide := browsertest.Eval[int](tab, "document.documentElement.scrollWidth"); wide > 360 {
		t.Errorf("the page is %d pixels wide in a window of 360", wide)
	}
	if n := browsertest.Eval[int](tab,
		"[...document.querySelectorAll('.card')].filter(c => c.checkVisibility() && c.getBoundingClientRect().right > "+
			"360).length"); n > 0 {
		t.Errorf("%d parts leave the window", n)
	}
	unharmed(t, tab)
}

func TestWithoutScriptsTheAnswerIsThere(t *testing.T) {
	tab := browsertest.Open(t)
	tab.WithoutScripts()
	tab.Go(saved(t, pageData{Title: "Plain", Runs: []runState{synthetic(400, 4, 1)}}))
	text := browsertest.Eval[string](tab, "document.body.innerText")
	for _, want := range []string{"the budget of calls is spent", "evoalloc bandit", "400 calls", "return [1, 2];"} {
		if !strings.Contains(text, want) {
			t.Errorf("without scripts the page does not say %q: %s", want, text)
		}
	}
	unharmed(t, tab)
}

// What is offered as files is what is shown: figures as SVG that a browser takes, tables and programs as they are.
func TestSavedFiles(t *testing.T) {
	s := synthetic(400, 4, 1)
	s.Arms[0].Name = `=1+1,"x"`
	tab := reported(t, pageData{Title: "Files", Runs: []runState{s}})
	browsertest.Eval[bool](tab, `(window.files = [], URL.createObjectURL = b => { window.files.push(b); return 'data:,'; },
		HTMLAnchorElement.prototype.click = function () { this.remove(); }, true)`)
	take := func(selector string) string {
		t.Helper()
		browsertest.Eval[bool](tab, "([...document.querySelectorAll('"+selector+"')][0].click(), true)")
		return browsertest.Eval[string](tab, "window.files.at(-1).text()")
	}
	browsertest.Eval[bool](tab, "document.querySelector('#best tbody tr').click(), true")
	tab.Wait("!document.querySelector('#candidate .tools button').disabled")
	if got := take("#candidate .tools button"); got != s.Programs[s.Children.Program[s.Best[0]]].Text {
		t.Errorf("the program's file has %q", got)
	}
	table := take("#best .tools button")
	if !strings.HasPrefix(table, "Rank,Score,Search,") || !strings.Contains(table, "\r\n1,0.") {
		t.Errorf("the table's file has %q", table)
	}
	if rounds := take("#allocation .tools button:last-child"); !strings.Contains(rounds, `"'=1+1,""x"""`) {
		t.Errorf("a name that a spreadsheet would calculate is not quoted: %.200q", rounds)
	}
	for _, figure := range []string{"#curves", "#allocation", "#lineage"} {
		browsertest.Eval[bool](tab,
			"([...document.querySelectorAll('"+figure+" .tools button')].find(b => b.textContent === 'SVG').click(), true)")
		drawn := browsertest.Eval[int](tab, `window.files.at(-1).text().then(text => {
			const doc = new DOMParser().parseFromString(text, 'image/svg+xml');
			return doc.querySelector('parsererror') ? -1 : doc.querySelectorAll('path, rect, circle, text').length; })`)
		if drawn < 20 {
			t.Errorf("the SVG of %s has %d parts, or is none", figure, drawn)
		}
	}
	unharmed(t, tab)
}
