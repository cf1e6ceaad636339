package layers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/layers"
)

func candidate(program string, cases ...float64) eval.Candidate {
	c := eval.Candidate{Program: program, Result: eval.Result{Valid: true, Cases: cases}}
	for _, s := range cases {
		c.Result.Score += s / float64(len(cases))
	}
	return c
}

func TestPoolRules(t *testing.T) {
	const long = "function priority(a, b, w, d) { const x = a * w + b * d; const y = a - b; return x * y + w - d; }"
	bad := candidate("bad", 9, 9, 9)
	bad.Result.Valid = false
	plain := candidate("plain", 0.4)
	plain.Result.Cases = nil
	found := []eval.Candidate{
		bad,
		candidate("all", 5, 5, 5),
		candidate("one", 8, 0, 1),
		candidate("two", 0, 7, 1),
		candidate("most", 6, 6, 5),
		candidate("most ", 6, 6, 5),
		candidate("worst", 1, 1, 1),
	}
	alike := []eval.Candidate{
		candidate(long, 3),
		candidate(strings.Replace(long, "w - d", "w - a", 1), 2),
		candidate("// another\n"+strings.ReplaceAll(long, ";", ";\n"), 4),
		candidate("return d", 1),
	}
	for _, c := range []struct {
		why  string
		pool layers.Pool
		of   []eval.Candidate
		want string
	}{
		{"nothing was found", layers.Pool{}, nil, ""},
		{"nothing is valid", layers.Pool{}, []eval.Candidate{bad}, ""},
		{"by score, one of two equal programs", layers.Pool{}, found, "most all one two worst"},
		{"the best two", layers.Pool{K: 2}, found, "most all"},
		{"one is the best at the first case, one at the second, two at the third, of which the better stays", layers.Pool{By: layers.ByFronts}, found, "most one two"},
		{"the best, then what helps the most; what does not help is left out", layers.Pool{By: layers.ByCover}, found, "most one two"},
		{"the best two of them", layers.Pool{By: layers.ByCover, K: 2}, found, "most one"},
		{"cases of different number: what the first lack does not count", layers.Pool{By: layers.ByCover}, []eval.Candidate{plain, candidate("one", 0.3)}, "plain"},
		{"comments and layout do not make a program another", layers.Pool{Language: "javascript", Alike: 0.99}, alike, "4 2 1"},
		{"a change of one token is similar at 0.7", layers.Pool{Language: "javascript", Alike: 0.7}, alike, "4 1"},
		{"two similar ones may be", layers.Pool{Language: "javascript", Alike: 0.7, Similar: 2}, alike, "4 3 1"},
		{"as text, layout counts", layers.Pool{Alike: 0.99}, alike, "4 3 2 1"},
	} {
		var got []string
		for _, b := range c.pool.Pick(c.of) {
			name := strings.TrimSpace(b.Program)
			if len(b.Program) > 6 {
				name = fmt.Sprint(b.Result.Score)
			}
			got = append(got, name)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: the pool is %q, want %q", c.why, s, c.want)
		}
	}
}

func TestPickLeavesWhatItWasGiven(t *testing.T) {
	found := []eval.Candidate{candidate("b", 1, 2), candidate("a", 3, 0), candidate("c", 0, 9)}
	for _, by := range []layers.Rule{layers.ByScore, layers.ByFronts, layers.ByCover} {
		layers.Pool{By: by}.Pick(found)
		if found[0].Program != "b" || found[1].Program != "a" || found[2].Program != "c" {
			t.Errorf("by %v, the list is in another order: %v", by, found)
		}
	}
}

func TestRulesPrint(t *testing.T) {
	for got, want := range map[string]string{
		layers.Pool{}.String():                                "8 by score, at most 1 similar at 0.95",
		layers.Pool{K: 4, By: layers.ByCover}.String():        "4 by cover of cases, at most 1 similar at 0.95",
		layers.Pool{By: layers.ByFronts, Similar: 2}.String(): "8 by fronts by case, at most 2 similar at 0.95",
		layers.Promotion{}.String():                           "if better by 0",
		layers.Promotion{Always: true}.String():               "always",
		layers.Rule(9).String():                               "Rule(9)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
