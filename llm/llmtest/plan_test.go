package llmtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string // what the first five occurrences of a request meet
	}{
		{"503", "503 503 503 503 503"},
		{"503:3, hang", "503 503 503 hang hang"},
		{"none:1, 429 retry-after : 2", "none 429 retry-after 429 retry-after none none"},
		{"0% 503", "none none none none none"},
		{"100% empty length:2,reset:1", "empty length empty length reset none none"},
	} {
		fault, err := llmtest.Parse(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		var met []string
		for n := range 5 {
			f := string(fault(llmtest.Request{Occurrence: n}))
			if f == "" {
				f = "none"
			}
			met = append(met, f)
		}
		if got := strings.Join(met, " "); got != tt.want {
			t.Errorf("%q: met %s, want %s", tt.text, got, tt.want)
		}
	}
	for _, f := range llmtest.Faults() {
		if fault, err := llmtest.Parse(string(f)); err != nil || fault(llmtest.Request{}) != f {
			t.Errorf("%q: %v", f, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ reason, text, says string }{
		{"nothing", "", `no fault is called ""`},
		{"an unknown fault", "504", `no fault is called "504"`},
		{"a fault after one that lasts", "503, hang", "has no end"},
		{"no times", "503:0", "not a number of occurrences"},
		{"words for times", "503:twice", "not a number of occurrences"},
		{"more than all", "120% 503", "not a number from 0 to 100"},
		{"no number of percent", "NaN% 503", "not a number from 0 to 100"},
		{"an empty alternative", "503|", `no fault is called ""`},
	} {
		if _, err := llmtest.Parse(tt.text); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want it to say %q", tt.reason, err, tt.says)
		}
	}
}

// Shares are of requests, and each fault that a share names has its part.
func TestShares(t *testing.T) {
	fault := llmtest.Must("30% 503|hang")
	met := map[llmtest.Fault]int{}
	for seed := range uint32(10_000) {
		met[fault(llmtest.Request{Request: llm.Request{Seed: seed}})]++
	}
	for f, want := range map[llmtest.Fault]int{"": 7000, "503": 1500, "hang": 1500} {
		if got := met[f]; got < want-200 || got > want+200 { // more than four standard deviations
			t.Errorf("%q: %d of 10,000, want about %d", f, got, want)
		}
	}
}

// A fault that does not exist is a mistake of the test, which it must see.
func TestUnknownFault(t *testing.T) {
	srv := llmtest.NewServer(llmtest.Config{Fault: func(llmtest.Request) llmtest.Fault { return "504" }})
	defer srv.Close()
	if status, _ := ask(srv.URL, "hello", 1); status != 501 {
		t.Errorf("status %d for a fault that does not exist, want 501", status)
	}
}

func ExampleMust() {
	srv := llmtest.NewServer(llmtest.Config{Fault: llmtest.Must("503:2, 429")})
	defer srv.Close()
	for range 3 {
		status, _ := ask(srv.URL, "hello", 1)
		fmt.Println(status)
	}
	// Output:
	// 503
	// 503
	// 429
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"503:3, hang", "20% reset|hang", "none", "%", ":"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if fault, err := llmtest.Parse(text); err == nil {
			fault(llmtest.Request{})
		}
	})
}
