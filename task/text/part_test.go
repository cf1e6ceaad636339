package text_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/text"
)

// Parts come back as they were, whatever is in them.
func FuzzJoinParts(f *testing.F) {
	for _, s := range []string{"", "a\nb", "\n", "--- part: b ---", "\\--- part: b ---\n\\\\--- part: x ---",
		"--- part: b --- \r", "\x1b[0m", "---"} {
		f.Add(s, "end")
		f.Add("begin", s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		want := []text.Part{{Name: "a", Text: a}, {Name: "b", Text: b}}
		got, err := text.SplitParts(text.JoinParts(want))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q comes back as %q, %v", want, got, err)
		}
	})
}

func TestSplitParts(t *testing.T) {
	for _, tt := range []struct{ program, want, reason string }{
		{"", "no line", "there is nothing"},
		{"x", `begins with "x"`, "a text without parts"},
		{"x\n--- part: a ---\ny", `begins with "x"`, "text before the first part would be lost"},
		{"\n\n--- part: a ---\ny", "", "empty lines before it hold nothing"},
		{"--- part: a ---\r\ny", "", "Windows line ends"},
	} {
		_, err := text.SplitParts(tt.program)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q: %s", tt.program, err, tt.want, tt.reason)
		}
	}
}

// parted is a task whose prompt has two parts.
func parted(t *testing.T) *text.Task {
	c := config()
	c.Initial, c.Parts = "", []text.Part{{Name: "role", Text: "You shout."}, {Name: "rules", Text: "Repeat the word."}}
	return newTask(t, c)
}

// A reply that is asked for a part changes that part alone.
func TestParseReply(t *testing.T) {
	tk := parted(t)
	for _, tt := range []struct{ reply, want, says, reason string }{
		{"Here:\n```\nBe loud.\n```", "--- part: role ---\nYou shout.\n--- part: rules ---\nBe loud.", "", "the part alone"},
		{"```\n--- part: role ---\nMeddled.\n--- part: rules ---\nBe loud.\n```",
			"--- part: role ---\nYou shout.\n--- part: rules ---\nBe loud.", "", "of the whole prompt that part is taken"},
		{"````\nSay:\n```\nx\n```\n````", "--- part: role ---\nYou shout.\n--- part: rules ---\nSay:\n```\nx\n```", "",
			"blocks within a prompt"},
		{"```\nRepeat the word.\n```", "", task.ErrUnchanged.Error(), "what it was"},
		{"```\n--- part: other ---\nx\n```", "", `"other"`, "parts of another prompt"},
		{"", "", "empty", "nothing"},
	} {
		got, _, err := tk.ParseReply(task.Reply{Text: tt.reply, Parent: tk.Initial(), Part: "rules"})
		if got != tt.want || (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %q, %v", tt.reason, got, err)
		}
	}
	if _, _, err := tk.ParseReply(task.Reply{Text: "x", Parent: tk.Initial(), Part: "none"}); err == nil || errors.Is(err, task.ErrUnchanged) {
		t.Errorf("a part that is not there: %v", err)
	}
}

// A prompt without its parts is invalid, and costs no call.
func TestPartsAreKept(t *testing.T) {
	tk := parted(t)
	for program, valid := range map[string]bool{
		"--- part: role ---\nA\n--- part: rules ---\nB": true,
		"--- part: rules ---\nB\n--- part: role ---\nA": false,
		"--- part: role ---\nA":                         false,
		"just text":                                     false,
		"--- part: role ---\nA\n--- part: rules ---\nB\n--- part: rules ---\nC": false,
	} {
		if r := evaluate(t, tk, program); r.Valid != valid {
			t.Errorf("%q: valid %v: %s", program, r.Valid, r.Reason)
		}
	}
}

// The prompt for a part names it, and asks for its text alone.
func TestPromptForAPart(t *testing.T) {
	tk := parted(t)
	ask := task.Request{Parents: []eval.Candidate{{Program: tk.Initial(), Result: eval.Result{Valid: true}}}, Part: "rules"}
	m := tk.Prompt(ask)
	if last := m[len(m)-1].Content; !strings.Contains(last, `change is "rules"`) ||
		strings.Contains(last, "one complete program") {
		t.Errorf("it asks:\n%s", last)
	}
}
