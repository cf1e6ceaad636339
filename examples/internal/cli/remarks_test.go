package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/llm"
)

// generation returns one with a child for each outcome: "ok", or the reason why there is no score. One that
// begins with ! is of the call, not of the evaluation.
func generation(outcomes ...string) (g evolve.Generation) {
	for _, why := range outcomes {
		c := evolve.Child{Candidate: eval.Candidate{Program: "p", Result: eval.Result{Valid: why == "ok", Reason: why}}}
		if text, ok := strings.CutPrefix(why, "!"); ok {
			c.Err, c.Result = text, eval.Result{}
		}
		g.Children = append(g.Children, c)
	}
	return g
}

func TestRemarks(t *testing.T) {
	stalled := generation("!no answer", "ok")
	stalled.Children[0].Attempts = []llm.Attempt{{Status: llm.Stalled}, {Status: llm.Timeout}, {Status: llm.Failed}}
	talked := generation("ok", "ok")
	for i, tokens := range []int{100, 1090} {
		talked.Children[i].Attempts = []llm.Attempt{{Status: llm.OK, MaxTokens: 100, Endpoint: "http://a/v1",
			Usage: &llm.Usage{CompletionTokens: tokens}}}
	}
	for _, tt := range []struct {
		reason string
		opts   Options
		result evolve.Result
		want   []string // what the line says; none if there is none
	}{
		{"nothing to remark", Options{}, evolve.Result{Stop: evolve.StopBudget, Limit: "Calls",
			Arms: []evolve.ArmResult{{Generations: []evolve.Generation{generation("ok", "ok", "bad")}}}}, nil},
		{"stalls, by the default cap", Options{T: 30, N: 8},
			evolve.Result{Limit: "Stalls", Earlier: books.Earlier{},
				Arms: []evolve.ArmResult{{Generations: []evolve.Generation{stalled, generation("ok")}}}},
			[]string{"2 attempts timed out or stalled, more than the 24 that --max-stalls allows", "--timeout",
				"--first-token, --silence, --min-rate", "--resume"}},
		{"stalls, by a cap that was given", Options{T: 30, N: 8, MaxStalls: 1}, evolve.Result{Limit: "Stalls"},
			[]string{"more than the 1 that --max-stalls"}},
		{"stalls of a small run", Options{T: 2, N: 8}, evolve.Result{Limit: "Stalls"},
			[]string{"more than the 10 that --max-stalls"}},
		{"an earlier incarnation", Options{}, evolve.Result{Earlier: books.Earlier{Lost: make([]llm.Attempt, 2),
			Abandoned: make([][]llm.Attempt, 1)}},
			[]string{"3 calls were lost or abandoned in earlier incarnations", "all_lives"}},
		{"an earlier incarnation, one call", Options{}, evolve.Result{Earlier: books.Earlier{Lost: make([]llm.Attempt, 1)}},
			[]string{"1 call was lost"}},
		{"answers that nobody asked for again", Options{},
			evolve.Result{Earlier: books.Earlier{Unclaimed: make([][]llm.Attempt, 2)}},
			[]string{"2 calls were answered in an earlier incarnation of the run, and not asked for again", "all_lives"}},
		{"an endpoint that does not keep to the cap", Options{},
			evolve.Result{Arms: []evolve.ArmResult{{Generations: []evolve.Generation{talked}}}},
			[]string{"http://a/v1 reported more tokens than the request allows in 1 of 2 attempts"}},
	} {
		lines := tt.opts.remarks(&tt.result)
		if len(lines) != min(len(tt.want), 1) || strings.Contains(strings.Join(lines, ""), "\n") {
			t.Errorf("%s: %q", tt.reason, lines)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(lines[0], want) {
				t.Errorf("%s: %q, want it to say %q", tt.reason, lines[0], want)
			}
		}
	}
}

// Replies without their markers are counted, those that were put right and those that were refused, by the reason.
func TestRemarksOnMarkers(t *testing.T) {
	g := generation("ok", "bad", "!task: the program has lost the EVOLVE-BLOCK markers: need 1",
		"!task: no program in the reply", "ok", "ok")
	g.Children[0].Mended, g.Children[1].Mended = "the EVOLVE-BLOCK markers", "the EVOLVE-BLOCK markers"
	var o Options
	lines := o.remarks(&evolve.Result{Arms: []evolve.ArmResult{{Generations: []evolve.Generation{g}},
		{Generations: []evolve.Generation{g}}}})
	want := []string{
		"4 of 12 replies left out the EVOLVE-BLOCK markers, which were put back",
		"2 of 12 replies were refused: task: the program has lost the EVOLVE-BLOCK markers: need 1",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}

// Generations without a score are complained of once for each reason, when they have come to a number of children.
func TestComplain(t *testing.T) {
	var out strings.Builder
	p := &Progress{out: &out}
	partial := generation("stopped")
	partial.Partial = true
	for _, g := range []evolve.Generation{
		generation(), generation("bad", "ok"), partial, generation(strings.Fields("bad bad bad bad bad bad bad")...),
		generation("ok"), generation("bad"), // begins anew
		partial, generation("bad", "worse", "worse", "worse"), generation("worse", "bad"), generation("worse"),
		generation(strings.Fields("worse worse worse worse worse worse worse worse worse")...),
		generation(strings.Fields("bad bad bad bad bad bad bad bad bad")...),
	} {
		p.complain(g)
	}
	p.complain(generation(strings.Fields(strings.Repeat(strings.Repeat("ä", 301)+" ", 8))...))
	want := []string{
		"8 of 8 children are without a score, 5 for this reason: worse",
		"9 of 9 children are without a score, 9 for this reason: bad",
		"8 of 8 children are without a score, 8 for this reason: " + strings.Repeat("ä", 300) + " ...", "",
	}
	if got := strings.Split(out.String(), "\n"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// The flag decides how many attempts may stall; the line that tells of it names the cap in force.
func TestMaxStalls(t *testing.T) {
	for _, tt := range []struct {
		args        string
		want, shown int
	}{
		{"--T 30 --N 8", 0, 24},
		{"--T 30 --N 8 --max-stalls 3", 3, 3},
		{"--T 30 --N 8 --max-stalls -1", -1, -1},
	} {
		var o Options
		fs := NewFlags("x", "")
		o.Register(fs)
		if err := o.Parse(fs, strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		if o.MaxStalls != tt.want || o.maxStalls() != tt.shown {
			t.Errorf("%s: %d stalls, %d shown", tt.args, o.MaxStalls, o.maxStalls())
		}
	}
}
