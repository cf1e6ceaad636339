package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/evolve/result"
)

func scored(program string, score float64, exact ...float64) eval.Candidate {
	r := eval.Result{Valid: true, Score: score}
	for _, x := range exact {
		r.Metrics = map[string]float64{eval.ExactPrefix + "score": x}
	}
	return eval.Candidate{Program: program, Result: r}
}

func TestAudits(t *testing.T) {
	start, best, bad := scored("start", 0.5), scored("best", 0.75), scored("bad", 0.875)
	arm := evolve.ArmResult{Start: start, Best: best, Generations: []evolve.Generation{
		{Index: 1, Before: start, Best: best, Audits: []eval.Audit{
			{Candidate: start, Second: eval.Result{Valid: true, Score: 0.25}},
			{Candidate: best, Second: eval.Result{Valid: true, Score: 0.5}}}},
		{Index: 2, Before: best, Best: best, Audits: []eval.Audit{
			{Candidate: bad, Second: eval.Result{Valid: true, Score: 0.125}, Demoted: true, Why: "not above 0.5"}}},
		{Index: 3, Before: best, Best: best, Audits: []eval.Audit{
			{Candidate: bad, Second: eval.Invalid("not audited: no room"), Demoted: true, Why: "not audited: no room"}}},
	}}
	file := report.NewGreedy(&evolve.Result{Arms: []evolve.ArmResult{arm}}, report.Header{T: 3, N: 1}, 0)
	want := "the best program's score of 0.750000 is 0.500000 by the second evaluator, which gives the first " +
		"0.250000; 2 of 4 bests were demoted"
	if got := file.Audit.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"audited":0.5,"gap":0.25}`,
		`"score":0.875,"audited":0.125,"gap":0.75,"demoted":true,"reason":"not above 0.5"`,
		`"audited":null,"demoted":true,"reason":"not audited: no room"`} {
		if !strings.Contains(string(data), part) {
			t.Errorf("no %s in %s", part, data)
		}
	}
	for _, name := range []string{"audit", "lenient_win"} {
		arm.Generations = []evolve.Generation{{Before: start, Best: best}}
		data, err := json.Marshal(report.NewGreedy(&evolve.Result{Arms: []evolve.ArmResult{arm}}, report.Header{T: 3, N: 1},
			0))
		if err != nil || strings.Contains(string(data), `"`+name) {
			t.Errorf("%v: %s of a search without audits: %s", err, name, data)
		}
	}
}

// A win that a tolerance alone makes is flagged, and figures that differ without it are named.
func TestLenientWins(t *testing.T) {
	for _, tt := range []struct {
		reason       string
		before, best eval.Candidate
		want         bool
	}{
		{"no tolerance", scored("a", 1), scored("b", 2), false},
		{"less without it, and better still", scored("a", 1), scored("b", 2, 1.5), false},
		{"as good as its parent without it", scored("a", 1), scored("b", 2, 1), true},
		{"vanishes", scored("a", 1), scored("b", 2, 0), true},
		{"the parent's was tolerance too", scored("a", 1, 0.5), scored("b", 2, 0.75), false},
		{"no win", scored("a", 1), scored("a", 1, 0), false},
	} {
		arm := evolve.ArmResult{Best: tt.best, Generations: []evolve.Generation{{Index: 1, Before: tt.before, Best: tt.best}}}
		file := report.NewGreedy(&evolve.Result{Arms: []evolve.ArmResult{arm}}, report.Header{T: 1, N: 1}, 0)
		if got := file.Trajectory[1].Lenient; got != tt.want {
			t.Errorf("%s: %v", tt.reason, got)
		}
	}
	r := eval.Result{Valid: true, Score: 2.6359, Metrics: map[string]float64{"exact_score": 2.6301,
		"exact_paper_score": 1, "paper_score": 1.0004, "exact_other": 3}}
	want := []string{"the best program's paper_score of 1.0004 is 1 without a tolerance",
		"the best program's score of 2.6359 is 2.6301 without a tolerance"}
	if diff := cmp.Diff(want, result.WithoutTolerance(r)); diff != "" {
		t.Error(diff)
	}
}
