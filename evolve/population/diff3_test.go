package population

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMergedLines(t *testing.T) {
	for _, tt := range []struct {
		reason, ancestor, better, worse, want string
		own                                   bool
	}{
		{"each has changed a line", "a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n", true},
		{"both have changed one: the better one's, and nothing is the worse one's", "a\nb\n", "A\nb\n", "X\nb\n", "A\nb\n",
			false},
		{"both have changed one alike", "a\nb\nc\n", "A\nb\nc\n", "A\nb\nC\n", "A\nb\nC\n", false},
		{"lines that were added", "a\nb\n", "a\nx\nb\n", "a\nb\ny\n", "a\nx\nb\ny\n", true},
		{"lines that were deleted", "a\nb\nc\nd\ne\n", "a\nc\nd\ne\n", "a\nb\nc\nd\n", "a\nc\nd\n", true},
		{"the worse one is the ancestor", "a\nb\n", "A\nb\n", "a\nb\n", "A\nb\n", false},
		{"nothing in common", "a\n", "b\n", "c\n", "b\n", false},
		{"without a line end at the end", "a\nb\nc", "A\nb\nc", "a\nb\nC", "A\nb\nC", true},
		{"empty", "", "", "", "", false},
	} {
		if got, own := mergedLines(tt.ancestor, tt.better, tt.worse); got != tt.want || own != tt.own {
			t.Errorf("%s: %q, %v; want %q, %v", tt.reason, got, own, tt.want, tt.own)
		}
	}
}

func TestMergedParts(t *testing.T) {
	words := func(s string) []string { return strings.SplitAfter(s, " ") }
	if got, own := merged("a b c", "a B c", "a b C", words); got != "a B C" || !own {
		t.Errorf("%q, %v", got, own)
	}
	if got, own := merged("a b c", "a b", "a b C", words); got != "" || own {
		t.Errorf("programs with different numbers of parts: %q, %v", got, own)
	}
}

// Merging with the ancestor gives the program itself, and edits of different lines are all kept.
func TestMergedKeepsEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		a := make([]string, 3+r.IntN(12))
		for i := range a {
			a[i] = string(rune('a' + r.IntN(4)))
		}
		b, w, want := append([]string(nil), a...), append([]string(nil), a...), append([]string(nil), a...)
		for i := 0; i < len(a); i += 2 { // neighbors are left, so that changes do not touch
			switch r.IntN(3) {
			case 0:
				b[i], want[i] = "B", "B"
			case 1:
				w[i], want[i] = "W", "W"
			}
		}
		text := func(l []string) string { return strings.Join(l, "\n") + "\n" }
		if got, _ := mergedLines(text(a), text(b), text(a)); got != text(b) {
			t.Fatalf("%q merged with its ancestor %q is %q", text(b), text(a), got)
		}
		// With lines that are equal, what is matched with what may differ, so only unlike lines are compared.
		for i := range a {
			was := a[i]
			a[i] += string(rune('0' + i))
			for _, l := range [][]string{b, w, want} {
				if l[i] == was {
					l[i] = a[i]
				}
			}
		}
		if got, _ := mergedLines(text(a), text(b), text(w)); got != text(want) {
			t.Fatalf("of %q, %q and %q came %q, want %q", text(a), text(b), text(w), got, text(want))
		}
	}
}
