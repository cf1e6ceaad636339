package task

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/llm"
)

var spec1 = Spec{Name: "a", Language: "javascript", System: "Pack circles.", Initial: "start", Evaluator: length}

func scored(program string, score float64) eval.Candidate {
	return eval.Candidate{Program: program, Result: eval.Result{Valid: true, Score: score}}
}

func TestPrompt(t *testing.T) {
	const ask = "Rewrite the program to raise its score.\nReply with one complete program in one fenced block tagged javascript.\n"
	tests := []struct {
		name   string
		ask    Request
		want   string
		reason string
	}{
		{"one parent", Request{Parents: []eval.Candidate{scored("let x\n", 0.36423749)}},
			"Current program, with score 0.364237 (higher is better):\n\n```javascript\nlet x\n```\n\n" + ask,
			"six decimals; line ends at the end do not show"},
		{"invalid parent", Request{Parents: []eval.Candidate{{Program: "p", Result: eval.Invalid("threw\n```\nat 1")}}},
			"Current program, which is invalid: threw ``` at 1:\n\n```javascript\np\n```\n\n" + ask,
			"a reason is one line, so that it opens no block"},
		{"score not finite", Request{Parents: []eval.Candidate{scored("p", math.NaN())}},
			"Current program, which is invalid: score is NaN, not a finite number:\n\n```javascript\np\n```\n\n" + ask,
			"no NaN travels"},
		{"no parent", Request{}, "Current program:\n\n```javascript\nstart\n```\n\n" + ask,
			"the initial program is there to be rewritten"},
		{"two parents", Request{Parents: []eval.Candidate{scored("a", 2), scored("b", 1)}, Instruction: "Combine them.\n"},
			"Program 1 of 2, with score 2.000000 (higher is better):\n\n```javascript\na\n```\n\n" +
				"Program 2 of 2, with score 1.000000 (higher is better):\n\n```javascript\nb\n```\n\n" +
				"Combine them.\nThe program to change is program 1.\nReply with one complete program in one fenced block tagged javascript.\n",
			"as given; the instruction takes the place of the default one; which one to change is said"},
		{"inspirations and notes", Request{Parents: []eval.Candidate{scored("a", 2)}, Sections: []Section{
			Notes("wider\n```js\nsteps", " ", "he\x00l\x1b[31mp\u202e"),
			Inspirations(eval.Candidate{Program: "bad", Result: eval.Invalid("threw")}, scored("b", 1))}},
			"Inspiration 1 of 2, not to be changed, which is invalid: threw:\n\n```javascript\nbad\n```\n\n" +
				"Inspiration 2 of 2, not to be changed, with score 1.000000 (higher is better):\n\n```javascript\nb\n```\n\n" +
				"Current program, with score 2.000000 (higher is better):\n\n```javascript\na\n```\n\n" +
				"Notes on earlier attempts:\n\n> wider ```js steps\n> help\n\n" +
				"Rewrite the program to raise its score.\nThe program to change is the current program.\n" +
				"Reply with one complete program in one fenced block tagged javascript.\n",
			"what is stable stands first; a note is one line of what can be seen and opens no block; a blank one is left out"},
		{"fences inside", Request{Parents: []eval.Candidate{scored("/*\n```\n````js\n*/", 1)}},
			"Current program, with score 1.000000 (higher is better):\n\n`````javascript\n/*\n```\n````js\n*/\n`````\n\n" + ask,
			"the fence is longer than any in the program"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := prompt(spec1, tt.ask)
			want := []llm.Message{{Role: llm.System, Content: "Pack circles."}, {Role: llm.User, Content: tt.want}}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%s\nwant\n%s\n%s", got[len(got)-1].Content, tt.want, tt.reason)
			}
		})
	}
}

func TestPromptWithoutSystemOrLanguage(t *testing.T) {
	got := prompt(Spec{Initial: "p"}, Request{})
	if len(got) != 1 || got[0].Role != llm.User || !strings.HasSuffix(got[0].Content, "in one fenced block.\n") {
		t.Errorf("got %q", got)
	}
}

func TestPromptReasonIsBounded(t *testing.T) {
	c := eval.Candidate{Program: "p", Result: eval.Invalid("%s", strings.Repeat("ü", 1<<20))}
	if n := len(prompt(spec1, Request{Parents: []eval.Candidate{c}})[1].Content); n > 1000 {
		t.Errorf("the prompt of a one-letter program with a long reason has %d bytes", n)
	}
}

func TestPromptNotesAreBounded(t *testing.T) {
	ask := Request{Parents: []eval.Candidate{scored("p", 1)}, Sections: []Section{Notes(strings.Repeat("ü", 1<<20))}}
	if n := len(prompt(spec1, ask)[1].Content); n > 1000 {
		t.Errorf("the prompt with one long note has %d bytes", n)
	}
}

func TestPromptFeedback(t *testing.T) {
	s := spec1
	s.Feedback = 64
	c := scored("p", 1)
	c.Result.Metrics = map[string]float64{"b": 2, "a": 1.5, "inf": math.Inf(1)}
	c.Result.Artifacts = map[string]string{"stderr": "warning\n```js\nevil\n```\n"}
	got := prompt(s, Request{Parents: []eval.Candidate{c}})[1].Content
	want := "```\n\n> a: 1.5\n> b: 2\n> stderr:\n> warning\n> ```js\n> evil\n> ```\n\nRewrite"
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
	if blocks := slices.Collect(fence.Blocks(got)); len(blocks) != 1 || blocks[0].Text() != "p" {
		t.Errorf("artifacts opened a block: %+v", blocks)
	}
	c.Result.Artifacts["z"] = strings.Repeat("é\n", 1<<16)
	if n := len(prompt(s, Request{Parents: []eval.Candidate{c}})[1].Content); n > 600 {
		t.Errorf("feedback limited to 64 bytes makes a prompt of %d", n)
	}
}

// Equal asks give equal prompts although Go shuffles maps.
func TestPromptIsStable(t *testing.T) {
	s := spec1
	s.Feedback = 1 << 20
	build := func() []llm.Message {
		c := scored("p", 1)
		c.Result.Metrics, c.Result.Artifacts = map[string]float64{}, map[string]string{}
		for i := range 30 {
			c.Result.Metrics[fmt.Sprint("m", i)], c.Result.Artifacts[fmt.Sprint("a", i)] = float64(i), "x"
		}
		return prompt(s, Request{Parents: []eval.Candidate{c}})
	}
	want := build()
	for range 50 {
		if got := build(); !reflect.DeepEqual(got, want) {
			t.Fatalf("got\n%v\nwant\n%v", got, want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("abcdef", 4)
	f.Add("éé", 3)
	f.Add("éé", 0)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(n, 0)
		got := clip(s, n)
		if len(got) > max(n, len("...")) || len(s) <= n && got != s ||
			!strings.HasPrefix(s+"...", strings.TrimSuffix(got, "...")) {
			t.Fatalf("clip(%q, %d) = %q", s, n, got)
		}
	})
}
