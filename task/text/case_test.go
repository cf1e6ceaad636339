package text_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/evoalloc/evoalloc/task/text"
)

func TestReadCases(t *testing.T) {
	for _, tt := range []struct{ file, says, reason string }{
		{"", "", "no cases"},
		{"\ufeff{\"input\": \"x\"}\r\n\n", "", "what other systems write"},
		{`{"input": ""}`, "", "an input may be empty"},
		{`{"want": "x"}`, `line 1: the case has no "input"`, "it would ask nothing"},
		{"{\"input\": \"x\"}\n[1]", "line 2: need a case in JSON", "the line is named"},
		{`{"input": "x", "set": "test"}`, `the set is "test"`, "the sets are named"},
		{`{"input": 1}`, "need a case in JSON", "an input is text"},
	} {
		_, err := text.ReadCases(strings.NewReader(tt.file))
		if (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v, want %q: %s", tt.file, err, tt.says, tt.reason)
		}
	}
	gone := errors.New("gone")
	if _, err := text.ReadCases(io.MultiReader(strings.NewReader(`{"input": "x"}`),
		iotest.ErrReader(gone))); !errors.Is(err, gone) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// What is dealt out is every case once, whatever the order.
func TestDivide(t *testing.T) {
	var cases []text.Case
	for _, id := range strings.Split("abcdefghij", "") {
		cases = append(cases, text.Case{ID: id})
	}
	s := text.Divide(cases)
	slices.Reverse(cases)
	r := text.Divide(cases)
	if !slices.Equal(s.Train, r.Train) || !slices.Equal(s.Validation, r.Validation) ||
		!slices.Equal(s.HeldOut, r.HeldOut) {
		t.Errorf("%v and %v", s, r)
	}
	all := slices.Concat(s.Train, s.Validation, s.HeldOut)
	slices.SortFunc(all, func(a, b text.Case) int { return strings.Compare(a.ID, b.ID) })
	if slices.Reverse(cases); !slices.Equal(all, cases) {
		t.Errorf("of %v there are %v", cases, all)
	}
}

func FuzzReadCases(f *testing.F) {
	f.Add(`{"id": "a", "input": "x", "want": [1], "set": "train"}` + "\n" + `{"input": "y"}`)
	f.Fuzz(func(t *testing.T, file string) {
		s, err := text.ReadCases(strings.NewReader(file))
		if n := len(s.Train) + len(s.Validation) + len(s.HeldOut); err == nil && n > strings.Count(file, "\n")+1 ||
			err != nil && n > 0 {
			t.Errorf("%d cases of %q: %v", n, file, err)
		}
	})
}
