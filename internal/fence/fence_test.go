package fence

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLanguage(t *testing.T) {
	tests := []struct{ info, want, reason string }{
		{"js", "js", "plain"},
		{"", "", "untagged"},
		{"JS", "JS", "case is kept"},
		{`js title="a"`, "js", "attributes after a space"},
		{"{.python .numberLines}", "python", "Pandoc"},
		{"{r, echo=FALSE}", "r", "R Markdown"},
		{"js{1,3-4}", "js", "line numbers"},
		{"js:main.js", "js", "a file name"},
		{"c++", "c++", "signs"},
		{"objective-c", "objective-c", "a hyphen"},
		{"language-go", "go", "the class that HTML has"},
		{"größe", "größe", "letters beyond ASCII"},
		{"...", "", "no name at all"},
	}
	for _, tt := range tests {
		if got := (Block{Info: tt.info}).Language(); got != tt.want {
			t.Errorf("language of %q is %q, want %q: %s", tt.info, got, tt.want, tt.reason)
		}
	}
}

func TestBlocks(t *testing.T) {
	text := "a\n```js\nb\n```\nc\n~~~\nd\n```\n- ~~~\n~~~ x\ne"
	var got []string
	for b := range Blocks(text) {
		got = append(got, fmt.Sprintf("%q %q %v %q", b.Info, b.Text(), b.Closed, text[b.Begin:b.End]))
	}
	want := []string{
		`"js" "b" true "` + "```js\\nb\\n```\\n" + `"`,
		`"" "d\n` + "```" + `\n- ~~~" false "~~~\nd\n` + "```" + `\n- ~~~\n"`,
		`"x" "e" false "~~~ x\ne"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestBlocksStops(t *testing.T) {
	for range Blocks("```\na\n```\n```\nb") {
		break
	}
}

func TestWrap(t *testing.T) {
	tests := []struct{ text, tag, want, reason string }{
		{"a", "js", "```js\na\n```", "three are enough"},
		{"a\n", "", "```\na\n\n```", "the text's own line end is part of it"},
		{"`a```b``", "", "````\n`a```b``\n````", "longer than any run"},
		{"", "", "```\n\n```", "nothing"},
	}
	for _, tt := range tests {
		if got := Wrap(tt.text, tt.tag); got != tt.want {
			t.Errorf("Wrap(%q, %q) = %q, want %q: %s", tt.text, tt.tag, got, tt.want, tt.reason)
		}
	}
}

func FuzzBlocks(f *testing.F) {
	for _, s := range []string{"", "```\na\n```", "- ~~~x\n  a\n  ~~~", "````\n```\n", "1) a\n\n     ```\n\tb\n",
		"```\n```a\n```"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		leading, ok := Leading(text, "")
		for b := range Programs(text, "") {
			if begins := b.Begin == 0; begins != ok || begins && b != leading {
				t.Fatalf("%q: the first block is %+v, and Leading returned %+v, %v", text, b, leading, ok)
			}
			break
		}
		for b := range Blocks(text) {
			if b.Begin < end || b.End < b.Begin || b.End > len(text) || b.Begin > 0 && text[b.Begin-1] != '\n' {
				t.Fatalf("%q: block %d to %d after %d", text, b.Begin, b.End, end)
			}
			end = b.End
			opening, _, _ := strings.Cut(text[b.Begin:b.End], "\n")
			checkText(t, b, opening)
		}
		all := slices.Collect(Blocks(Wrap(text, "x")))
		if len(all) != 1 || all[0].Text() != text || !all[0].Closed || all[0].Info != "x" {
			t.Fatalf("%q in a block came back as %+v", text, all)
		}
	})
}

// checkText checks that no line of b could have closed it or opened another of its kind.
func checkText(t *testing.T, b Block, opening string) {
	f, ok := barOf(opening)
	if !ok {
		_, bytes, _ := listItem(opening)
		f, ok = barOf(opening[bytes:])
	}
	if !ok {
		t.Fatalf("block begins with %q", opening)
	}
	f.indent = b.indent
	for _, line := range strings.Split(b.raw, "\n") {
		if g, ok := barOf(line); ok && g.char == f.char && g.n >= f.n && g.indent <= f.reach() {
			t.Fatalf("block opened by %q holds the fence %q", opening, line)
		}
	}
}
