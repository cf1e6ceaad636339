package view

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/browsertest"
)

// hostile are texts that try to run, to leave the place where they are shown, or to stop the page. Those that come to
// run set a variable, the title, or open a dialog.
var hostile = map[string]string{
	"the script ends": `</script><script>window.canary = 1; document.title = 'canary'; ` +
		`alert('canary')</script>`,
	"a comment in a script":         `<!--<script>`,
	"noscript, style and title end": `</noscript></style></title></textarea></template><script>window.canary = 1</script>`,
	"an event handler":              `<img src=x onerror="window.canary = 1; alert('canary')">`,
	"a handler in an attribute":     `" onmouseover="window.canary = 1" onfocus=window.canary=1 autofocus x="`,
	"an SVG with a script":          `<svg onload="window.canary = 1"><script>alert('canary')</script></svg>`,
	"a link to a script":            `javascript:window.canary=1`,
	"a frame":                       `<iframe srcdoc="<script>parent.canary = 1</script>"></iframe>`,
	"a refresh":                     `<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/">`,
	"something to be loaded":        `<link rel=stylesheet href=http://127.0.0.1:9/x><img src=http://127.0.0.1:9/y>`,
	"a template":                    `{{printf "%s" "canary"}} ${window.canary = 1} {{.Data}}`,
	"the end of a string":           "'; window.canary = 1; //\\'; \"; window.canary = 1; //` + (window.canary = 1) + `",
	"control characters":            "a\x00b\x1b]0;canary\x07c\x9bd\u2028e\u2029f\rg",
	"letters turned round":          "\u202egnp.exe\u202c \u2066x\u2069 \u200f \ufeff \U000e0041",
	"halves of characters":          "\xff\xfe \xed\xa0\x80 \xc0\x80",
	"one long line":                 strings.Repeat("<b>&amp;</b>"+strings.Repeat("x", 52), 1<<14),
	"many lines":                    strings.Repeat("<b>\nx\nx\nx\nx\n", 20_000),
	"the names of objects":          `__proto__`,
}

// hostileState has a text in every field that holds one. A long one is whole where a runLog does not cut it, but once
// for each kind of field, as most of the test's time goes into packing and unpacking it.
func hostileState(long string) runState {
	s := synthetic(60, 2, 3)
	text := long[:min(len(long), 4<<10)]
	s.ID, s.Name, s.Command, s.Status = text, text, text, text
	for i := range s.Labels {
		s.Labels[i] = text
	}
	for i := range s.Arms {
		s.Arms[i].Name = text
	}
	for i := range s.Children.Reason {
		if s.Children.Reason[i] != "" && i < 20 {
			s.Children.Reason[i] = text
		}
	}
	s.Facts = append(s.Facts, Fact{text, text, text, false}, Fact{text, text, text, true})
	s.Meters = append(s.Meters, meterState{Name: text, Unit: text, Spent: 1, Limit: 2, Rate: 1})
	best := s.Children.Program[s.Best[0]]
	s.Programs[best] = programText{Text: long, Runs: []int{1, tokenKeyword, 1, tokenString}}
	for i := range s.Line {
		s.Line[i].Operator, s.Line[i].Model, s.Line[i].Said = text, text, text
		s.Line[i].Diff = []lineChange{{"-", text, 1, 1}, {"+", text, 1, 1}, {"@", text, 1, 1}, {"f", text, 0, 0},
			{text, text, 1, 1}}
	}
	s.Tree, s.Change = true, []lineChange{{"f", text, 0, 0}, {"+", text, 1, 1}}
	s.Line[len(s.Line)-1].Diff[0].Text = long
	s.Ledgers = []ledgerTable{{text, []ledgerRow{{Name: text, Children: 1}}}}
	s.Endpoints = []endpointState{{Name: text, Statuses: map[string]int{text: 1},
		Errors: []message{{Text: text, Kind: text, Count: 1}}}}
	s.Messages = []message{{Kind: text, Text: long, Count: 1}}
	return s
}

func hostileStudy(text string) Study {
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="parent.canary = ` +
		`1"><script>parent.canary = 1; alert('canary')</script>` +
		`<image href="http://127.0.0.1:9/z" width="9" height="9"/><rect width="9" height="9"/></svg>`
	return Study{Name: text, Facts: []Fact{{text, text, text, false}}, Warnings: []string{text},
		Figures: []Figure{{text, text, []byte(svg)}},
		Tables:  []Table{{text, []string{text, text}, [][]string{{text, text}, {text}}, []bool{true, false}}}}
}

// Whatever a program or a message holds, it is shown as text: nothing in it runs or is loaded, and the page goes on
// working. Each text has a run and a study of its own in one page.
func TestHostileTextIsShownAsText(t *testing.T) {
	p := pageData{Title: strings.Join(slices.Collect(maps.Values(hostile)), " ")}
	reasons := slices.Sorted(maps.Keys(hostile))
	for _, reason := range reasons {
		p.Runs = append(p.Runs, hostileState(hostile[reason]))
		p.Studies = append(p.Studies, hostileStudy(hostile[reason]))
	}
	tab := reported(t, p)
	for i, reason := range reasons {
		browsertest.Eval[bool](tab, fmt.Sprintf("document.querySelector('[data-tab=\"%d\"]').click(), true", i))
		browsertest.Eval[bool](tab, "document.querySelector('#best tbody tr').click(), true")
		tab.Wait("document.querySelector('#candidate .code')")
		looksHarmless(t, tab, "the run of "+reason)
		browsertest.Eval[bool](tab, fmt.Sprintf("document.querySelector('[data-tab=\"%d\"]').click(), true", len(reasons)+i))
		tab.Wait("document.querySelector('#study img').complete")
		looksHarmless(t, tab, "the study of "+reason)
	}
	unharmed(t, tab)
}

// looksHarmless fails the test if a text has run, or has become an element.
func looksHarmless(t *testing.T, tab *browsertest.Tab, where string) {
	t.Helper()
	if browsertest.Eval[bool](tab, "'canary' in window || document.title === 'canary' || 'canary' in Object.prototype") {
		t.Errorf("%s ran", where)
	}
	const made = "#view script, iframe, link:not([rel=icon]), meta[http-equiv=refresh], #view [onload], #view " +
		"[onerror], #view svg"
	if n := browsertest.Eval[int](tab, fmt.Sprintf("document.querySelectorAll(%q).length", made)); n > 0 {
		t.Errorf("%s made %d elements", where, n)
	}
}

// What cannot be seen is shown by its code point, and what is long is cut.
func TestUnseenCharactersAreNamed(t *testing.T) {
	s := synthetic(60, 2, 3)
	key := s.Children.Program[s.Best[0]]
	s.Programs[key] = programText{Text: "a\u202eb\x1bc\U000e0041d\n" + strings.Repeat("y", 1<<20)}
	tab := reported(t, pageData{Title: "t", Runs: []runState{s}})
	browsertest.Eval[bool](tab, "document.querySelector('#best tbody tr').click(), true")
	tab.Wait("document.querySelector('#candidate .code')")
	shown := browsertest.Eval[string](tab, "document.querySelector('#candidate .code').textContent")
	if want := "a‹U+202E›b‹U+001B›c‹U+E0041›d\n"; !strings.HasPrefix(shown, want) {
		t.Errorf("the program is shown as %.80q, want it to begin with %q", shown, want)
	}
	if len(shown) > 10_000 || !strings.Contains(shown, "more characters") {
		t.Errorf("of a line of a megabyte %d bytes are shown, or it is not said that it is cut", len(shown))
	}
}

// Without scripts too, text is text.
func TestHostileTextWithoutScripts(t *testing.T) {
	for reason, text := range hostile {
		var b bytes.Buffer
		if err := render(&b, pageData{Title: text, Runs: []runState{hostileState(text)},
			Studies: []Study{hostileStudy(text)}}); err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
		if n := strings.Count(b.String(), "<script"); n != 2 {
			t.Errorf("%s: the page has %d script elements, want the data and the script", reason, n)
		}
		if i := strings.IndexFunc(b.String(), func(r rune) bool { return r == 0x202e || r == 0x1b || r == 0 }); i >= 0 {
			t.Errorf("%s: the page has an unseen character at byte %d", reason, i)
		}
	}
}
