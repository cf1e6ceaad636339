package task

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// Replies as models write them, each kind beside an ordinary one that looks like it.
func TestReplyKinds(t *testing.T) {
	const good, draft = "def f(x):\n    return 2 * x", "def f(x):\n    return 77 * x"
	py := func(program string) string { return "```python\n" + program + "\n```\n" }
	doc := func(quotes, fence, tag string) string {
		return "def f(x):\n    " + quotes + "Example:\n\n" + fence + tag + "\nf(1)\n" + fence + "\n    " + quotes +
			"\n    return 2 * x"
	}
	const template = "const s = `\n\\`\\`\\`\n`\nfunction f(x) { return 2 * x }"
	const comment = "/* Example:\n```\nf(1)\n```\n*/\nfunction f(x) { return 2 * x }"
	tags := "s = '''\n<think>\n</think>\n<|channel|>final<|message|>\n'''\n" + good
	const head, end = "<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"
	for _, tt := range []struct{ kind, reply, want, reason string }{
		{"thinking", "<thinking>\n" + py(draft) + "</thinking>\n" + py(good), good, "another tag"},
		{"thinking", "<thought duration=\"3s\">\n" + py(draft) + "</thought>" + py(good), good, "attributes"},
		{"thinking", "<REASONING>" + py(draft) + "</REASONING>\n" + py(good), good, "capitals"},
		{"thinking", "[THINK]\n" + py(draft) + "[/THINK]\n" + py(good), good, "brackets"},
		{"thinking", "So:\n" + py(draft) + "</thinking>\n" + py(good), good, "not opened"},
		{"thinking", "So:\n" + py(draft) + "That is it.</think> The answer:\n" + py(good), good,
			"not opened, closed in a line"},
		{"thinking", "<thought>\n" + py(draft), "", "not closed"},
		{"thinking", "Sure.\n<think>\n" + py(draft) + "</think>\n" + py(good), good, "after a greeting"},
		{"thinking", py(good) + "<think>\n" + py(draft) + "</think>\n", good, "after the program"},
		{"thinking", py(good) + "<think>\nIs it right?\n" + py(draft), good, "after the program, not closed"},
		{"thinking", py(tags), tags, "tags in a program are the program's"},
		{"thinking", "I keep the <think> tag as it is.\n" + py(good), good, "talk of a tag"},
		{"thinking", "Now\n<think> is cut:\n" + py("s.split('</think>')\n"+good), "s.split('</think>')\n" + good,
			"talk of a tag that begins a line"},
		{"thinking", "<thinker> and\n<thoughtful>\n" + py(good), good, "other words"},
		{"harmony", head + "We think\n" + py(draft) + end + py(good), good, "the final channel is the answer"},
		{"harmony", head + "We\n" + py(draft) + end + py(good) + "<|return|>", good, "with its end"},
		{"harmony", end[len("<|end|><|start|>assistant"):] + py(good) + "<|end|><|start|>assistant" + head + py(draft), good,
			"analysis after it"},
		{"harmony", "We think\n" + py(draft) + end + py(good), good, "the first head lost"},
		{"harmony", head + "We think\n" + py(draft), "", "no final channel"},
		{"harmony", "We think\n" + py(draft) + "assistantfinal" + py(good), good, "without its tokens and the first head"},
		{"harmony", "analysisWe need f. Perhaps def f(x): return 3*x.assistantfinal" + py(good), good, "without its tokens"},
		{"harmony", "analysisWe.assistantcommentaryHm.\nassistantfinal" + py(good) + "assistantanalysisDone\n" +
			py(draft), good,
			"several channels without their tokens"},
		{"harmony", "analysisWe need\n" + py(draft), "", "not finished"},
		{"harmony", "analysis of the assistant's final answer:\n" + py(good), good, "the words in prose"},
		{"several", py(draft) + "Wait, that is wrong.\n" + py(good), good, "drafted first, corrected last"},
		{"several", py(good) + "Use it:\n" + py("print(f(2))\nprint(f(3))"), good, "an example of use defines nothing"},
		{"several", py("import math\n"+good) + "That is:\n" + py(good), "import math\n" + good, "a part of it is not whole"},
		{"several", py(good) + "In short:\n" + py("def f(x):\n    # ... rest of the code"), good,
			"a sketch leaves something out"},
		{"several", py(good) + "It was:\n" + py("def f(x):\n    return x"), good, "the parent quoted last"},
		{"several", py(good) + "It prints:\n```\n0 2 4 6 8 10 12 14 16 18 20\n```\n", good, "what it prints has no tag"},
		{"several", "```sh\npip install a-long-name b-long-name\n```\n```\n" + good +
			"\n```\n```sh\npython3 program.py\n```", good,
			"untagged between commands"},
		{"several", "```\n" + good + "\n```\nThen:\n" + py("f(2)"), good, "untagged, and an example with a tag"},
		{"string", py(doc(`"""`, "```", "")) + "That is it.", doc(`"""`, "```", ""), "a fence in a docstring"},
		{"string", py(doc(`'''`, "```", "python")), doc(`'''`, "```", "python"), "an opening one, in the other quotes"},
		{"string", "~~~python\n" + doc(`"""`, "~~~", "") + "\n~~~\n", doc(`"""`, "~~~", ""), "tildes"},
		{"string", "````python\n" + doc(`"""`, "````", "") + "\n````\n", doc(`"""`, "````", ""), "four of them"},
		{"string", "```python\n" + doc(`"""`, "```", ""), doc(`"""`, "```", ""), "and the last one lost"},
		{"string", strings.ReplaceAll(py(doc(`"""`, "```", "")), "\n", "\r\n"), doc(`"""`, "```", ""), "ends of Windows"},
		{"string", py(draft+"\ny = (") + "Oh.\n" + py(good), good, "a bracket left open is no string"},
		{"string", py("s = \"\"\"\n"+draft) + "Oh.\n" + py(good), good, "nor is a string that nothing closes"},
		{"string", "```js\n" + template + "\n```\n", template, "a template"},
		{"string", "```js\n" + comment + "\n```\nDone.", comment, "a comment"},
		{"closing", good + "\n```\n", good, "the opening fence was the prompt's"},
		{"closing", good + "\n```", good, "at the very end"},
		{"closing", good + "\n```\nThis doubles x.", good, "and talk after it"},
		{"closing", "python\n" + good + "\n```\nThis doubles x.", good, "the tag is left"},
		{"closing", good + "\n```\nUse:\n" + py("f(2)"), good, "and another block"},
		{"closing", "Here you are:\n\n```\n" + good, good, "an opening fence alone is not one"},
		{"closing", "Here you are, with much talk before it:\n\n```\nx = 1", "x = 1", "nor if the program is cut short"},
		{"indentation", "```python\n    def f(x):\n        return 2 * x\n```", good, "all lines are moved right"},
		{"indentation", "    def f(x):\n        return 2 * x\n", good, "without a fence"},
		{"no fence", "Here is the program.\n\nIt doubles x:\n\n" + good, good, "talk before it"},
		{"no fence", "Title: x.\nx = 1\n", "Title: x.\nx = 1", "nothing that the parent defines"},
		{"indentation", py("s = '''\n a\n'''\n" + good), "s = '''\n a\n'''\n" + good, "not all lines"},
	} {
		language := "python"
		if strings.Contains(tt.want, "function") {
			language = "javascript"
		}
		got, _, err := Reply{Text: tt.reply, Parent: "def f(x):\n    return x\n", Language: language}.Parse()
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %s: of\n%s\ncame %q, %v; want %q", tt.kind, tt.reason, tt.reply, got, err, tt.want)
		}
	}
}

// Of several blocks the markers, the form and the paper's protocol decide as well.
func TestReplyOfSeveral(t *testing.T) {
	edited := func(x string) string { return strings.Replace(marked1, "x = 1", x, 1) }
	for _, tt := range []struct {
		reason string
		reply  Reply
		want   string
	}{
		{"the first without a parent", Reply{Text: "```\na\n```\n```\nbb\n```"}, "a"},
		{"the first by the paper's protocol", Reply{Text: "```\na\n```\n```\nb\n```", Parent: "c", Form: AsFirst}, "a"},
		{"the last of texts", Reply{Text: "```\na\n```\n```\nb\n```", Parent: "c"}, "b"},
		{"not a short one", Reply{Text: "```\naaaa\n```\n```\nb\n```", Parent: "cccc"}, "aaaa"},
		{"the last that the markers fit", Reply{Text: Fence(edited("x = 2"), "py") + "\n" + Fence(edited("x = 3"), "py") +
			"\nUse:\n```py\nprint(x, x, x, x, x, x, x, x, x)\n```", Parent: marked1, Marked: true}, edited("x = 3")},
		{"a block of C",
			Reply{Text: "```c\nint f(int x) {\n  return 2 * x;\n}\n```\nCall it:\n```c\nint y = f(2);\nreturn f(y);\n```",
				Parent: "int f(int x) {\n  return x;\n}\n", Language: "c"}, "int f(int x) {\n  return 2 * x;\n}"},
		{"blocks before a program", Reply{Text: blk("    y = 1\n", "    y = 3\n") + "```\nx\n```", Parent: parent1,
			Form: AsDiff},
			strings.Replace(parent1, "y = 1", "y = 3", 1)},
		{"a program for a diff", Reply{Text: "All new:\n```python\nx = 1\n```", Parent: "x = 0", Form: AsDiff}, "x = 1"},
		{"a draft of a diff", Reply{Text: "<think>\n" + blk("    y = 1\n", "    y = 9\n") + "</think>\n" +
			blk("    y = 1\n", "    y = 3\n"), Parent: parent1, Form: AsDiff}, strings.Replace(parent1, "y = 1", "y = 3", 1)},
	} {
		if got, _, err := tt.reply.Parse(); got != tt.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", tt.reason, got, err, tt.want)
		}
	}
}

func TestReplyOfDiffErrors(t *testing.T) {
	for _, tt := range []struct{ text, want, reason string }{
		{"Sorry, no.", "it has neither a <<<<<<< SEARCH line nor a fenced block", "talk is no program"},
		{"", "it is empty", "nothing came"},
		{"<think>" + blk("    y = 1\n", "    y = 3\n"), "it is all thinking", "only a draft"},
		{blk(parent1, ""), "its blocks delete all of it", "no program left"},
		{blk("    y = 1\n", "    y = \x00\n"), "is NUL", "a program is text"},
		{blk("    y = 7\n", ""), `block 1 of 1 matches nothing: its line "y = 7"`, "the line is named"},
		{blk("    y = 1\n", "    y = 3\n") + blk("    y = 3\n", "    y = 1\n"), "changes nothing", "there and back"},
		{"```python\n" + strings.TrimSpace(parent1) + "\n```", "changes nothing", "the program as it was shown"},
	} {
		for _, parent := range []string{parent1, strings.ReplaceAll(parent1, "\n", "\r\n")} {
			got, _, err := Reply{Text: tt.text, Parent: parent, Form: AsDiff}.Parse()
			if got != "" || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %q, %v; want %s", tt.reason, got, err, tt.want)
			}
		}
	}
}

// Hostile replies to a parent are megabytes of what the choice among blocks might go through again and again.
func TestReplyHuge(t *testing.T) {
	n := notrun.Length(1<<17, 4<<20)
	for _, unit := range []string{"```\ndef f(x):\n```\n", "```py\n\"\"\"\n```\n", "<think>\n", "a\n<think> b\n",
		"[/think]\n",
		"<|channel|>final<|message|>", "<|channel|>final", "assistantfinal", "def f(x):\n", "def ", "# EVOLVE-BLOCK-START\n",
		"```diff\n@@ -1 +1 @@\n-x\n", "@@ -1 +1 @@\n+\n", "a b(", "# rest of "} {
		for _, form := range []Form{AsWhole, AsDiff} {
			r := Reply{Text: strings.Repeat(unit, n/len(unit)), Parent: marked1 + "def f(x):\n", Language: "python", Form: form}
			for _, r.Marked = range []bool{false, true} {
				if program, _, err := r.Parse(); err == nil && len(program) > len(r.Text)+len(r.Parent) {
					t.Errorf("%d bytes of %q are a program of %d", len(r.Text), unit, len(program))
				}
			}
		}
	}
}

func FuzzReply(f *testing.F) {
	f.Add("```python\ndef f(x):\n    x\n```\n```\nf(1)\n```", "def f(x):\n    pass\n", 1, false)
	f.Add(blk("x = 1\n", "x = 2\n"), marked1, 2, true)
	f.Add("<|channel|>final<|message|>x = 1\n```", marked1, 0, true)
	f.Add("@@ -1 +1 @@\n-x = 1\n+x = 2\n", "x=1\n", 2, false)
	f.Fuzz(func(t *testing.T, text, parent string, form int, marked bool) {
		r := Reply{Text: text, Parent: parent, Form: Form(form & 3), Language: "python", Marked: marked}
		got, mended, err := r.Parse()
		if (err == nil) == (got == "") || err != nil && (mended != "" || !strings.HasPrefix(err.Error(), "task: ")) {
			t.Fatalf("%+v: %q, %q, %v", r, got, mended, err)
		}
		if err == nil && (checkText(got) != nil || marked && got == parent) {
			t.Fatalf("%+v: %q", r, got)
		}
	})
}
