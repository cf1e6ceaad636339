package printable

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct{ reason, in, want string }{
		{"nothing", "", ""},
		{"plain", "a b", "a b"},
		{"letters of other scripts", "Grüße, 数学 🎉", "Grüße, 数学 🎉"},
		{"several lines", " a\n\tb\r\nc\rd ", "a b c d"},
		{"the clipboard (OSC 52), ended by BEL", "a\x1b]52;c;cm0gLXJm\x07b", "ab"},
		{"the title, ended by ST", "a\x1b]0;root@bank\x1b\\b", "ab"},
		{"the same with C1 controls", "a\u009d0;root@bank\u009cb", "ab"},
		{"clear screen and colours", "\x1b[2J\x1b[Ha\x1b[1;31mb\x1b[0m", "ab"},
		{"CSI as one character", "a\u009b2Jb", "ab"},
		{"another character set, and a reset", "a\x1b(0b\x1bcc", "abc"},
		{"a device string and an application's", "a\x1bP+q544e\x1b\\b\x1b_Gi=1\x1b\\c", "abc"},
		{"a string that does not end hides nothing", "a\x1b]52;c;x and the rest", "a52;c;x and the rest"},
		{"parameters that do not end", "a\x1b[12\x1b[12", "a1212"},
		{"an escape at the end", "a\x1b", "a"},
		{"two escapes do not make one", "a\x1b\x1b[0m]52;c;x\x07b", "a]52;c;xb"},
		{"a backspace and a bell", "ab\b\x07c", "abc"},
		{"marks that turn the order round", "a\u202eb\u202c\u2066c\u2069\u200fd\u061ce", "abcde"},
		{"no width", "s\u200bk\u200c-\u200d1\u20602\ufeff3\u00ad4", "sk-1234"},
		{"shown as nothing, though letters and marks by class", "a\u3164b\u115fc\ufe0fd\u034fe\U000e0100f\u2800g", "abcdefg"},
		{"letters of the tags, which only a model reads", "a\U000e0068\U000e0069b", "ab"},
		{"blanks of other widths, and line ends of other kinds", "a\u00a0b\u2003c\u2028d\u0085e", "a b c de"},
		{"bytes that are not UTF-8, among them CSI as one byte", "a\x9b2Jb", "a\ufffd2Jb"},
	} {
		if got := Line(tt.in); got != tt.want {
			t.Errorf("%s: %q becomes %q, want %q", tt.reason, tt.in, got, tt.want)
		}
	}
}

func TestTextKeepsLinesAndTabs(t *testing.T) {
	const in, want = "if x:\r\n\treturn  1\x1b[8m # hidden\u202e\rover\n", "if x:\n\treturn  1 # hidden\nover\n"
	if got := Text(in); got != want {
		t.Errorf("%q becomes %q, want %q", in, got, want)
	}
}

// Beginnings of strings that do not end cost one search for an end, not one each.
func TestManyBeginningsAreLinear(t *testing.T) {
	e := stringEnds{}
	s := strings.Repeat("\x1b]", 10)
	if e.sequence(s, 0) != 2 || !e.none {
		t.Fatal("the missing end is not remembered")
	}
	if n := len(Text(strings.Repeat("\x1b]", 1<<20))); n != 0 {
		t.Errorf("%d bytes are left of introducers", n)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\x1b]52;c;x\x07b", "\u009b2J", "\x1b[1;2;", "\x9b", "\u202ea\u2069", "a\r\n\tb",
		"\x1b\x1b\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, line := Text(s), Line(s)
		for _, r := range text {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				t.Errorf("%q leaves %q", s, r)
			}
		}
		if strings.ContainsAny(line, "\n\t\r") || strings.TrimSpace(line) != line {
			t.Errorf("%q is not a line: %q", s, line)
		}
		if !utf8.ValidString(text) || Text(text) != text || Line(line) != line {
			t.Errorf("%q: cleaning %q or %q again changes it", s, text, line)
		}
	})
}
