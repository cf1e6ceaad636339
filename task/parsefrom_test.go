package task

import (
	"errors"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/edit"
	"github.com/evoalloc/evoalloc/internal/fence"
)

const (
	marked1 = "import math\n# EVOLVE-BLOCK-START\nx = 1\ny = 2\n# EVOLVE-BLOCK-END\nprint(x)\n"
	parent1 = "import math\n\ndef f(x):\n    y = 1\n    return y\n\ndef g(x):\n    return 2\n"
)

// blk is a block of a diff.
func blk(search, replace string) string {
	return edit.SearchLine + "\n" + search + edit.MiddleLine + "\n" + replace + edit.ReplaceLine + "\n"
}

// unmark returns program without its lines that are markers.
func unmark(program string) string {
	return strings.NewReplacer("# EVOLVE-BLOCK-START\n", "", "# EVOLVE-BLOCK-END\n", "").Replace(program)
}

func newTask(t *testing.T, s Spec) Task {
	t.Helper()
	s.Name, s.Evaluator = "a", length
	out, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shout is a wrapper that reads replies its own way, with the parent.
type shout struct{ Task }

func (s shout) Unwrap() Task { return s.Task }

func (s shout) ParseReply(r Reply) (program, mended string, err error) {
	return strings.ToUpper(r.Parent + r.Text), "case", nil
}

func TestParse(t *testing.T) {
	diff := newTask(t, Spec{Initial: "a\nb\n", Diffs: true})
	whole := newTask(t, Spec{Initial: "a\nb\n"})
	reply := blk("b\n", "c\n")
	tests := []struct {
		task                        Task
		parent, reply, want, reason string
	}{
		{diff, "x\nb\n", reply, "x\nc\n", "the parent, not the initial program, is changed"},
		{whole, "x\nb\n", "```\ny\n```", "y", "a complete program needs no parent"},
		{wrapped{diff}, "x\nb\n", reply, "x\nc\n", "a wrapper that unwraps"},
		{WithEvaluator(wrapped{diff}, length), "x\nb\n", reply, "x\nc\n", "at any depth"},
		{WithEvaluator(shout{diff}, length), "x", "y", "XY", "the outermost ParseReply counts"},
		{bare{diff}, "x\nb\n", reply, "a\nc\n",
			"a wrapper that does not unwrap has only Parse, which changes the initial program"},
	}
	for _, tt := range tests {
		if got, _, err := Parse(tt.task, Reply{Text: tt.reply, Parent: tt.parent}); got != tt.want || err != nil {
			t.Errorf("Parse(%v, of %q, %q) = %q, %v, want %q: %s", tt.task, tt.parent, tt.reply, got, err, tt.want, tt.reason)
		}
	}
}

func TestParseMarked(t *testing.T) {
	edited := strings.Replace(marked1, "x = 1", "x = 7", 1)
	outside := strings.Replace(marked1, "math", "os", 1)
	parent := strings.Replace(marked1, "y = 2", "y = 3", 1)
	child := strings.Replace(parent, "x = 1", "x = 7", 1)
	tests := []struct {
		diffs, ignore               bool
		parent, reply, want, reason string
	}{
		{false, false, marked1, Fence(edited, "py"), edited, "a change inside"},
		{false, false, parent, Fence(edited, "py"), edited, "the inside is the child's, whatever the parent's is"},
		{false, false, marked1, Fence(outside, "py"), "changes nothing between the EVOLVE-BLOCK markers",
			"a change outside alone"},
		{false, false, marked1, Fence(marked1, "py"), "changes nothing", "no change"},
		{false, false, marked1, Fence("x = 7", "py"), "it has lost 2 of 2 EVOLVE-BLOCK markers", "no markers"},
		{false, true, marked1, Fence("x = 7", "py"), "x = 7", "markers that are comments"},
		{true, false, parent, blk("x = 1\n", "x = 7\n"), child, "a block inside"},
		{true, false, parent, blk("x = 1\n", "x = 7\n") + blk("import math\n", "import os\n"), child,
			"one inside and one outside"},
		{true, false, parent, blk("import math\n", "import os\n"), "changes nothing between the EVOLVE-BLOCK markers",
			"a block outside"},
		{true, false, parent, blk("# EVOLVE-BLOCK-END\n", ""), "changes nothing",
			"a block that deletes a marker, which is put back"},
		{true, false, parent, Fence(edited, "py"), edited, "a complete program in answer to a request for blocks"},
		{true, true, parent, blk("# EVOLVE-BLOCK-END\n", ""), strings.Replace(parent, "# EVOLVE-BLOCK-END\n", "", 1),
			"markers that are comments"},
	}
	for _, tt := range tests {
		task := newTask(t, Spec{Initial: marked1, Language: "python", Diffs: tt.diffs, IgnoreMarkers: tt.ignore})
		got, _, err := Parse(task, Reply{Text: tt.reply, Parent: tt.parent})
		if got == tt.want && err == nil || got == "" && err != nil && strings.Contains(err.Error(), tt.want) {
			if err == nil || errors.Is(err, ErrUnchanged) == strings.Contains(tt.want, "changes nothing") {
				continue
			}
		}
		t.Errorf("%+v:\ngot %q, %v", tt, got, err)
	}
}

func TestNewChecksMarkers(t *testing.T) {
	s := Spec{Name: "a", Evaluator: length, Initial: "# EVOLVE-BLOCK-START\nx\n"}
	_, err := New(s)
	if err == nil || !strings.Contains(err.Error(),
		"the block that line 1 begins does not end (IgnoreMarkers takes them for comments)") {
		t.Errorf("markers that do not pair up: %v", err)
	}
	s.IgnoreMarkers = true
	if _, err := New(s); err != nil {
		t.Errorf("markers that are comments: %v", err)
	}
}

func TestPromptAsksForBlocks(t *testing.T) {
	s := Spec{Initial: marked1, Language: "python", Diffs: true}
	one := prompt(s, Request{Parents: []eval.Candidate{scored("x", 1)}})[0].Content
	two := prompt(s, Request{Parents: []eval.Candidate{scored("x", 1), scored("y", 0)}})[0].Content
	for _, tt := range []struct{ prompt, want, reason string }{
		{one, "changes to the program,", "what the blocks change"},
		{one, "\n" + edit.SearchLine + "\n", "the form"},
		{one, "\n" + edit.MiddleLine + "\n", "the form"},
		{one, "\n" + edit.ReplaceLine + "\n", "the form"},
		{one, "between a line with EVOLVE-BLOCK-START and", "the markers"},
		{two, "changes to program 1,", "the first of several is changed"},
	} {
		if !strings.Contains(tt.prompt, tt.want) {
			t.Errorf("no %q in\n%s\n%s", tt.want, tt.prompt, tt.reason)
		}
	}
	if strings.Contains(one, "one complete program") {
		t.Errorf("the prompt asks for two things:\n%s", one)
	}
	for b := range fence.Blocks(one) {
		if b.Text() != "x" {
			t.Errorf("a block that is no program: %q", b.Text())
		}
	}
	s.IgnoreMarkers = true
	if p := prompt(s, Request{})[0].Content; strings.Contains(p, "Change only") {
		t.Errorf("markers that are comments are talked about:\n%s", p)
	}
}

// A model that echoes the format of the prompt and nothing else has changed nothing that is there.
func TestEchoedFormat(t *testing.T) {
	task := newTask(t, Spec{Initial: parent1, Diffs: true})
	echo := prompt(Spec{Initial: parent1, Diffs: true}, Request{})[0].Content
	if got, err := task.Parse(echo); err == nil {
		t.Errorf("parsed to %q", got)
	}
}

// A reply that leaves the markers out is said to, if it is read nevertheless, and is unchanged if nothing else is.
func TestParseUnmarked(t *testing.T) {
	task := newTask(t, Spec{Initial: marked1, Language: "python"})
	ignoring := newTask(t, Spec{Initial: marked1, Language: "python", IgnoreMarkers: true})
	edited := strings.Replace(marked1, "x = 1", "x = 7", 1)
	lost := strings.Replace(edited, "# EVOLVE-BLOCK-END\n", "", 1)
	for _, tt := range []struct {
		task        Task
		reply, want string
		mended      bool
		reason      string
	}{
		{task, unmark(edited), edited, true, "without both"},
		{task, lost, edited, true, "without one"},
		{wrapped{task}, unmark(edited), edited, true, "through a wrapper"},
		{bare{task}, unmark(edited), edited, false, "a wrapper that does not unwrap cannot tell"},
		{task, edited, edited, false, "complete"},
		{ignoring, unmark(edited), strings.TrimRight(unmark(edited), "\n"), false, "comments like any other"},
		{task, unmark(marked1), "", false, "nothing is changed"},
	} {
		got, mended, err := Parse(tt.task, Reply{Text: Fence(strings.TrimRight(tt.reply, "\n"), "python"), Parent: marked1})
		if got != tt.want || (mended != "") != tt.mended || (tt.want == "") != errors.Is(err, ErrUnchanged) {
			t.Errorf("%s: %q, %q, %v, want %q", tt.reason, got, mended, err, tt.want)
		}
	}
}
