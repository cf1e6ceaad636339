package cli

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/task"
)

// Another bound is another run, of a tree as of other tasks. Journals of runs without bounds have no word on them.
func TestShowDecides(t *testing.T) {
	own := scoredBy(t, func(context.Context, string) (eval.Result, error) { return eval.Result{Valid: true}, nil })
	tree := []string{"--model", "qwen3-8b", "--base", t.TempDir(), "--change", "*.go", "--score", "true"}
	for _, args := range [][]string{nil, tree} {
		var of [3]journal.Fingerprint
		for i, more := range [][]string{nil, {"--show", "notes=0"}, {"--show", "notes=9"}} {
			o, err := parsed(slices.Concat(args, more))
			if err != nil {
				t.Fatal(err)
			}
			of[i] = o.fingerprint(o.Bounded(own), nil)
		}
		if _, has := of[0]["shown"]; has {
			t.Errorf("%q: without the flag it has %v", args, of[0])
		}
		for _, two := range [][2]int{{0, 1}, {1, 2}, {1, 0}} {
			if differences(of[two[0]], of[two[1]]) == "" {
				t.Errorf("%q: %v is no other run than %v", args, of[two[0]], of[two[1]])
			}
		}
	}
}

// --show takes names of parts with numbers of tokens. An unknown part or a bad number is refused, and the message says
// what to give.
func TestShow(t *testing.T) {
	bare, err := task.New(task.Spec{Name: "bare", Initial: "p", Evaluator: eval.Func(
		func(context.Context, string) (eval.Result, error) { return eval.Result{Valid: true}, nil })})
	if err != nil {
		t.Fatal(err)
	}
	ask := task.Request{Sections: []task.Section{task.Notes("wider"), task.Attempts("worse: a became b")}}
	var o Options
	if o.Bounded(bare) != bare {
		t.Error("without the flag the task is another")
	}
	if err := o.Show.Set("notes=0, attempts=100"); err != nil || o.Show.String() != "attempts=100,notes=0" {
		t.Errorf("%v: %v", o.Show, err)
	}
	if text := o.Bounded(bare).Prompt(ask)[0].Content; strings.Contains(text, "wider") ||
		!strings.Contains(text, "worse") {
		t.Errorf("the prompt is\n%s", text)
	}
	if err := o.checkShow(); err == nil || !strings.Contains(err.Error(), "populations") {
		t.Errorf("attempts of greedy search: %v", err)
	}
	for flag, want := range map[string]string{"diary=3": "inspirations, metrics", "notes": "notes=500",
		"notes=-1": "0 or more", "notes=x": "notes=500", "": "is no part"} {
		if err := o.Show.Set(flag); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--show %q: %v, want %q", flag, err, want)
		}
	}
}
