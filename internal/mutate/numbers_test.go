package mutate

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/internal/lex"
)

func FuzzNumbers(f *testing.F) {
	for _, s := range []string{"", "x1 = [0.5, -1, 2e3] // 4", "`${1}` /[/]1/ 'a1' \"\n2", "a- -1.5;return-2;1.2.3",
		"\x00\xff1é2", "[0,0,0,0]", "0x1p-2 1_0"} {
		f.Add(s, uint8(0), uint64(1))
	}
	f.Add("'''1''' # 2\n3", uint8(1), uint64(2))
	all := []lex.Language{lex.JavaScript, lex.Python, lex.Go, lex.Likely("c", "")}
	tempers := []Temper{"", Small, Large, Splicing}
	f.Fuzz(func(t *testing.T, src string, which uint8, seed uint64) {
		syn := all[int(which)%len(all)]
		before := syn.Literals(src)
		got := Numbers(src, syn, Draw{rand.New(rand.NewPCG(seed, 1))}, tempers[which/4%4])
		if utf8.ValidString(src) && !regexp.MustCompile(pattern(src, before)).MatchString(got) {
			t.Fatalf("Numbers of %q changed more than numbers: %q", src, got)
		}
	})
}

// pattern matches what may become of src: each literal as it was or another number, with its suffix,
// and all that is between them to the byte.
func pattern(src string, ls []lex.Literal) string {
	var b strings.Builder
	at := 0
	for _, l := range ls {
		fmt.Fprintf(&b, `%s(?:%s|\(?[-+]?[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?%s\)?)`, regexp.QuoteMeta(src[at:l.Begin]),
			regexp.QuoteMeta(src[l.Begin:l.End]), l.Suffix)
		at = l.End
	}
	return `^` + b.String() + regexp.QuoteMeta(src[at:]) + `$`
}
