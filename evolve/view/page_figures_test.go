package view

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/internal/browsertest"
)

// computed returns what an expression over the parts of the page's script comes to.
func computed[T any](tab *browsertest.Tab, expression string) T {
	var b strings.Builder
	for _, part := range parts {
		if part != "main" { // which shows a page
			b.Write(file("script/" + part + ".js"))
		}
	}
	return browsertest.Eval[T](tab, "(() => {"+b.String()+"return "+expression+";})()")
}

// The numbers along an axis tell its parts from each other, however narrow they are.
func TestNumbersOfAxes(t *testing.T) {
	tab := browsertest.Open(t)
	for _, tt := range []struct{ call, want string }{
		{"apart([0, 0.5, 1], score, 6)", "0|0.5|1"},
		{"apart(ticks(2.635977, 2.635983, 6), score, 6)", "2.635977|2.635978|2.635979|2.63598|2.635981|2.635982|2.635983"},
		{"apart([12300, 12350, 12400], compact, 3)", "12.3 k|12.35 k|12.4 k"},
		{"apart([1000, 1000.5], compact, 3)", "1,000|1,000.5"},
		{"apart([0, 2e15, 4e15], compact, 3)", "0|2e15|4e15"},
		{"apart([0.1 + 0.2], score, 6)", "0.3"},
		{"[0, 0.0004, 99.96, 950.4, 9999.7, 12345, 4.561e6, 7.8e15].map(x => compact(x))",
			"0|0.0004|100|950|10,000|12.3 k|4.56 M|7.8e15"},
	} {
		if got := computed[string](tab, tt.call+".join('|')"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.call, got, tt.want)
		}
	}
}

// A mark is at the round whose child rose above all before it, whichever of the rounds under way ended first, and where
// no program was valid at first.
func TestRoundsThatRose(t *testing.T) {
	tab := browsertest.Open(t)
	const run = `{name: 'r', arms: [{name: 'a', valid: false, start: 0}],
		rounds: {arm: [0, 0, 0], prob: [1, 1, 1], calls: [1, 1, 1], reward: [0, 1, 0], over: [true, true, false],
			best: [-3, -3, 0], begin: [1, 2, 5], end: [9, 4, 0]},
		children: {arm: [0, 0], pull: [1, 0], state: [0, 0], score: [-3, -4], time: [4, 8]}}`
	if got := computed[[]bool](tab, "roundsThatRose("+run+")"); !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("marked are %v, want the second alone", got)
	}
	got := computed[string](tab, "(window.saved = '', window.Blob = function (parts) { window.saved += parts[0]; }, "+
		"URL.createObjectURL = () => 'data:,', HTMLAnchorElement.prototype.click = () => {}, saveRounds("+run+
		"), window.saved)")
	want := "round,search,propensity,calls,reward,over,best,begin_ms,end_ms\r\n1,a,1,1,0,true,-3,1,9\r\n" +
		"2,a,1,1,1,true,-3,2,4\r\n3,a,1,1,,false,,5,\r\n"
	if got != want {
		t.Errorf("saved %q, want %q", got, want)
	}
}

// Children are of the row of their round, also those of a file's second run, whose rounds have the first one's numbers.
func TestRoundsOfSeveralRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	trial{path: path, arms: 2, n: 2, rounds: 4}.run(t)
	var records []record.Record
	for r, err := range record.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	l := newLog("1", "run")
	for _, r := range records {
		l.Add(r)
	}
	for _, r := range records[slices.IndexFunc(records, func(r record.Record) bool { return r.Kind == record.Run }):] {
		l.Add(r)
	}
	s := l.State(rowCursor{})
	if len(s.Children.Pull) != 16 || len(s.Rounds.Arm) != 8 {
		t.Fatalf("%d children in %d rounds", len(s.Children.Pull), len(s.Rounds.Arm))
	}
	for row, round := range s.Children.Pull {
		if s.Children.Arm[row] != s.Rounds.Arm[round] {
			t.Errorf("child %d of search %d is of round %d, which is search %d's", row, s.Children.Arm[row], round,
				s.Rounds.Arm[round])
		}
	}
}

// An unknown value is shown as a dash: the latency of an endpoint that answered nothing, or the lift of an operator
// without a valid child. A small cost is not shown as 0. A study's rows without a number are sorted last.
func TestNumbersThatAreNotKnown(t *testing.T) {
	s := synthetic(40, 2, 1)
	s.Endpoints = []endpointState{{Name: "silent", Statuses: map[string]int{"timeout": 3}}}
	s.Ledgers = []ledgerTable{{Kind: "operator", Rows: []ledgerRow{{Name: "vain", Children: 4, Valid: 2, Last: -1, Money: 0.0004}}}}
	tab := reported(t, pageData{Title: "Unknown", Runs: []runState{s},
		Studies: []Study{{Name: "s", Tables: []Table{{Name: "t",
			Head: []string{"method", "score"}, Numeric: []bool{false, true},
			Rows: [][]string{{"a", "0.5"}, {"b", "none"}, {"c", "0.75"}, {"d", "none"}, {"e", "0.25"}}}}}}})
	browsertest.Eval[bool](tab, "document.querySelector('#study-table-0 .sorter[data-column=\"1\"]').click(), true")
	const first = "[...document.querySelectorAll('#study-table-0 tbody td:first-child')].map(c => c.textContent).join('')"
	if got := browsertest.Eval[string](tab, first); got != "caebd" {
		t.Errorf("sorted are %s, want caebd", got)
	}
	browsertest.Eval[bool](tab, "document.querySelector('[data-tab=\"0\"]').click(), true")
	for part, want := range map[string]string{"#faults": "silent|3|timeout 3|–", "#ledgers": "vain|4|50 %|–|–|0.0004"} {
		got := browsertest.Eval[string](tab, "[...document.querySelectorAll('"+part+" tbody tr:first-child')]"+
			".map(r => [...r.children].map(c => c.textContent).join('|'))[0]")
		if got != want {
			t.Errorf("%s shows %q, want %q", part, got, want)
		}
	}
	unharmed(t, tab)
}
