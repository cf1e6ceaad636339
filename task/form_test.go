package task

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

// An ask decides the form of the prompt and of the reply, whatever the task asks for by itself.
func TestForms(t *testing.T) {
	const diff = "<<<<<<< SEARCH\nb\n=======\nB\n>>>>>>> REPLACE\n"
	for _, tt := range []struct {
		reason string
		diffs  bool // by itself
		form   Form
		reply  string
		want   string // "" if there is no program
		asks   string
	}{
		{"whole by itself", false, asTask, "```\nx\n```", "x", "one complete program"},
		{"whole by itself, asked for a diff", false, AsDiff, diff, "a\nB\nc", "<<<<<<< SEARCH"},
		{"asked for a diff, a whole program will do", false, AsDiff, "```\nx\n```", "x", "<<<<<<< SEARCH"},
		{"diffs by itself", true, asTask, diff, "a\nB\nc", "<<<<<<< SEARCH"},
		{"the paper's", false, AsFirst, "```\nx\n```\n```\nyyyy\n```", "x", "one complete program"},
		{"diffs by itself, asked for all", true, AsWhole, "```\nx\n```", "x", "one complete program"},
		{"a diff that fits nothing", false, AsDiff, strings.Replace(diff, "\nb\n", "\nz\n", 1), "", "<<<<<<< SEARCH"},
	} {
		s := spec1
		s.Diffs, s.Language = tt.diffs, ""
		tk, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		if p := tk.Prompt(Request{Parents: []eval.Candidate{scored("a\nb\nc", 1)},
			Form: tt.form})[1].Content; !strings.Contains(p, tt.asks) {
			t.Errorf("%s: the prompt does not ask for %q:\n%s", tt.reason, tt.asks, p)
		}
		for _, of := range []Task{tk, WithEvaluator(tk, length)} {
			got, _, err := Parse(of, Reply{Text: tt.reply, Parent: "a\nb\nc", Form: tt.form})
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("%s: %q, %v; want %q", tt.reason, got, err, tt.want)
			}
		}
	}
}

// A task that knows one form alone is read in that one.
func TestParseWithoutForms(t *testing.T) {
	tk, err := New(spec1)
	if err != nil {
		t.Fatal(err)
	}
	plain := struct{ Task }{tk}
	if got, _, err := Parse(plain, Reply{Text: "```\nx\n```", Parent: "p", Form: AsDiff}); got != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
