package step

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// What never went out counts as a stall and costs nothing; what did, without usage, costs the most it can.
func TestUnsentCostsNothing(t *testing.T) {
	prices := Prices(llm.Models()[:1])
	req := Size{Prompt: 100}
	for _, status := range []llm.Status{llm.Timeout, llm.Stalled, llm.Canceled} {
		a := llm.Attempt{Status: status, MaxTokens: 1000}
		sent, stalls := prices.Used(req, []llm.Attempt{a})
		if want := status.Class() == llm.Stall; sent.Tokens != 1100 || sent.FLOPs == 0 || (len(stalls) == 1) != want {
			t.Errorf("%s: %+v, %q stalled", status, sent, stalls)
		}
		a.Unsent = true
		if unsent, again := prices.Used(req, []llm.Attempt{a}); unsent != (Amounts{}) || len(again) != len(stalls) {
			t.Errorf("%s and not sent: %+v, %q stalled", status, unsent, again)
		}
	}
}

// What is set aside is 0 when nothing is under way, and never less, whatever fractions add up to.
func TestReservedIsNotNegative(t *testing.T) {
	l := NewLedger(Limits{Passed: func(Amounts) string { return "" }, Stalls: -1}, Amounts{})
	a := []float64{0.1, 0.2, 0.3, 1e-7}
	for _, m := range a {
		if err := l.Reserve(t.Context(), nil, Amounts{Calls: 1, Money: m}); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []float64{0.3, 0.2, 1e-7, 0.1} {
		l.Settle(Amounts{Calls: 1, Money: m}, Amounts{})
		if got := l.Record().Reserved.Money; got < 0 {
			t.Errorf("%v is set aside", got)
		}
	}
	if _, reserved := l.Sums(); reserved.Money == 0 {
		t.Error("the fractions add up to 0, so the test sees nothing")
	}
	if got := l.Record().Reserved; got.Money != 0 || got.Calls != 0 {
		t.Errorf("%+v is set aside when nothing is under way", got)
	}
}

// atMost returns a Ledger with so many calls.
func atMost(calls, stalls int) *Ledger {
	return NewLedger(Limits{Stalls: stalls, Passed: func(a Amounts) string {
		if a.Calls > calls {
			return "Calls"
		}
		return ""
	}}, Amounts{})
}

func refusal(err error) string {
	limit, _ := Refusal(err)
	return limit
}

// What does not fit beside what is set aside waits for it to end, or is refused if it would not fit even then.
func TestReserveWaitsForWhatMayBeGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := atMost(1, -1)
		if err := l.Reserve(t.Context(), nil, Amounts{Calls: 1}); err != nil {
			t.Fatal(err)
		}
		waited := make(chan error, 1)
		go func() { waited <- l.Reserve(t.Context(), nil, Amounts{Calls: 1}) }()
		synctest.Wait()
		select {
		case err := <-waited:
			t.Fatalf("the second did not wait: %v", err)
		default:
		}
		l.Settle(Amounts{Calls: 1}, Amounts{}) // the first came to nothing
		if err := <-waited; err != nil {
			t.Errorf("the second has room now: %v", err)
		}
		l.Settle(Amounts{Calls: 1}, Amounts{Calls: 1})
		if err := l.Reserve(t.Context(), nil, Amounts{Calls: 1}); refusal(err) != "Calls" {
			t.Errorf("the third has no room for good: %v", err)
		}
	})
}

// A waiter gives up with its context, and one that comes when nothing more is sent is told so and not refused.
func TestReserveGivesUp(t *testing.T) {
	l := atMost(1, -1)
	if err := l.Reserve(t.Context(), nil, Amounts{Calls: 1}); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithTimeout(t.Context(), time.Millisecond)
	defer end()
	if err := l.Reserve(ctx, nil, Amounts{Calls: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a waiter whose context ended: %v", err)
	}
	drain := make(chan struct{})
	close(drain)
	if err := l.Reserve(t.Context(), drain, Amounts{Calls: 2}); !errors.Is(err, llm.ErrDraining) || refusal(err) != "" {
		t.Errorf("nothing more is sent: %v", err)
	}
}

var (
	failed = []llm.Attempt{{Status: llm.Failed}}
	ok     = []llm.Attempt{{Status: llm.OK}}
)

// A call passes through the states of its table: what is set aside and what is booked in each.
func TestStatesOfACall(t *testing.T) {
	l := atMost(5, -1)
	c := l.Call(llm.Request{}, nil)
	look := func(state string, reserved, spent int) {
		t.Helper()
		if s, r := l.Sums(); r.Calls != reserved || s.Calls != spent {
			t.Errorf("%s: %d set aside and %d spent, want %d and %d", state, r.Calls, s.Calls, reserved, spent)
		}
	}
	begin := func() {
		t.Helper()
		if err := c.Begin(t.Context(), nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	look("it waits in a queue", 0, 0)
	begin()
	look("an attempt begins", 1, 0)
	begin()
	look("a second beside it is the same call", 1, 0)
	c.Ended(failed)
	look("one of two failed", 1, 0)
	c.Ended(failed)
	look("both failed", 0, 0)
	begin()
	c.Ended(ok)
	look("it was answered", 1, 0)
	c.Settle([]llm.Attempt{failed[0], failed[0], ok[0]})
	look("it ended", 0, 1)
	c.Ended(failed)
	look("an attempt ends after it", 0, 1)
}

// What is recalled is not booked twice: all of a call, or only the attempts of one that was given up.
func TestRecalledCalls(t *testing.T) {
	l := NewLedger(Limits{Passed: func(Amounts) string { return "" }, Stalls: -1, Prices: llm.Models()[:1]}, Amounts{})
	answer := []llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{CompletionTokens: 7}}}
	whole, abandoned := l.Call(llm.Request{}, nil), l.Call(llm.Request{}, nil)
	whole.Booked()
	abandoned.AttemptsBooked()
	whole.Settle(answer)
	if spent, _ := l.Sums(); spent != (Amounts{}) {
		t.Errorf("a call that is in the books: %+v", spent)
	}
	abandoned.Settle(answer)
	if spent, _ := l.Sums(); spent != (Amounts{Calls: 1}) {
		t.Errorf("a call whose attempts are in the books: %+v", spent)
	}
}

// What a call's model asks is admitted at once or refused, since it would wait for the room of its own call. Its attempts
// are the call's: they are charged by their own size, and count as no call.
func TestModelsThatAskNeverWait(t *testing.T) {
	l := NewLedger(Limits{Stalls: -1, Prices: Prices{{Key: "m", MaxTokens: 100}}, Passed: func(a Amounts) string {
		if a.Tokens > 1300 {
			return "Tokens"
		}
		return ""
	}}, Amounts{})
	outer := l.Call(llm.Request{}, nil)
	long := llm.Request{Messages: []llm.Message{{Content: strings.Repeat("x", 700)}}}
	inner, second := outer.Inner(long), outer.Inner(long)
	for _, c := range []*CallBooks{outer, inner} {
		if err := c.Begin(t.Context(), nil, "m"); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.Begin(t.Context(), nil, "m"); refusal(err) != "Tokens" {
		t.Errorf("beside its call, which would wait for it: %v", err)
	}
	if err := outer.Begin(t.Context(), nil, "m"); err != nil || outer.Prompt() < 700 {
		t.Errorf("a second attempt of the call: %v, and its longest prompt has %d tokens", err, outer.Prompt())
	}
	plan := []llm.Attempt{{Status: llm.OK, Latency: 1}}
	inner.Ended(plan)
	inner.Settle(plan)
	if got := outer.Untold(nil); len(got) != 1 || got[0].Latency != 1 {
		t.Errorf("the call does not have what its model asked: %+v", got)
	}
	answer := []llm.Attempt{{Status: llm.OK, Latency: 2}}
	outer.Ended(answer)
	outer.Ended(nil)
	outer.Settle(append(outer.Untold(answer), answer...))
	if s, r := l.Sums(); s.Calls != 1 || s.Tokens < 900 || r != (Amounts{}) {
		t.Errorf("spent %+v, set aside %+v", s, r)
	}
}

// Too many stalls refuse attempts, and no evaluation.
func TestStallsRefuseAttemptsAlone(t *testing.T) {
	l := atMost(9, 1)
	for range 2 {
		c := l.Call(llm.Request{}, nil)
		if err := c.Begin(t.Context(), nil, ""); err != nil {
			t.Fatal(err)
		}
		c.Ended([]llm.Attempt{{Status: llm.Timeout, Endpoint: "a"}})
		c.Settle([]llm.Attempt{{Status: llm.Timeout, Endpoint: "a"}})
	}
	if got := l.Observed(); got.Spent.Stalls != 2 || got.StallsAt["a"] != 2 {
		t.Errorf("%+v, want 2 stalls at a", got)
	}
	c := l.Call(llm.Request{}, nil)
	if err := c.Begin(t.Context(), nil, ""); refusal(err) != "Stalls" || c.Full() != "Stalls" {
		t.Errorf("an attempt after 2 stalls of 1: %v", err)
	}
	if err := l.Reserve(t.Context(), nil, Amounts{Evaluations: 1}); err != nil {
		t.Errorf("an evaluation after 2 stalls of 1: %v", err)
	}
}

// A call sets aside what the model costs that it asks, so a cheap one has room where a dear one has none.
func TestCallsSetAsideWhatTheirModelCosts(t *testing.T) {
	request := llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hello"}}}
	models := Prices{{Key: "dear", MaxTokens: 100, Price: &llm.Price{Completion: 1e6}},
		{Key: "cheap", MaxTokens: 100, Price: &llm.Price{Completion: 1e4}}}
	l := NewLedger(Limits{Stalls: -1, Prices: models, Passed: func(a Amounts) string {
		if a.Money > 50 {
			return "Money"
		}
		return ""
	}}, Amounts{})
	for _, tt := range []struct{ model, limit, reason string }{
		{"dear", "Money", "100 is more than there is"},
		{"", "Money", "it may be the dear one"},
		{"another", "Money", "it is charged as the first"},
		{"cheap", "", "1 of 50"},
	} {
		c := l.Call(request, nil)
		if c.Full() != "" {
			t.Errorf("%s: no room for another attempt at any model: %s", tt.model, c.Full())
		}
		if err := c.Begin(t.Context(), nil, tt.model); refusal(err) != tt.limit {
			t.Errorf("%q: %v, want the limit %q: %s", tt.model, err, tt.limit, tt.reason)
		}
		c.Settle(nil)
	}
	// Of two attempts at once, which may be at several models, nothing is given back before both have ended.
	c := l.Call(request, nil)
	for _, model := range []string{"cheap", "cheap"} {
		if err := c.Begin(t.Context(), nil, model); err != nil {
			t.Fatal(err)
		}
	}
	used := llm.Attempt{Status: llm.OK, Model: "cheap", Usage: &llm.Usage{CompletionTokens: 50}}
	c.Ended([]llm.Attempt{used})
	if spent, reserved := l.Sums(); spent.Money != 0.5 || reserved.Money != 2 || reserved.Calls != 1 {
		t.Errorf("after one of two: spent %v, set aside %v", spent, reserved)
	}
	c.Ended(nil)
	if spent, reserved := l.Sums(); spent.Money != 0.5 || reserved != (Amounts{Calls: 1}) {
		t.Errorf("after both: spent %v, set aside %v", spent, reserved)
	}
	c.Settle([]llm.Attempt{used})
	if spent, reserved := l.Sums(); reserved != (Amounts{}) || spent.Calls != 1 {
		t.Errorf("at the end: spent %v, set aside %v", spent, reserved)
	}
}

// A request may ask for any number of tokens, as an agent's does. The most that it may cost is then more than there is, and
// never so much that it turns negative, which would be room for others.
func TestCapsThatNoModelHas(t *testing.T) {
	models := Prices{{Key: "m", ActiveParams: 1000, Price: &llm.Price{Completion: 1}}}
	for limit, passes := range map[string]func(Amounts) bool{
		"Tokens": func(a Amounts) bool { return a.Tokens > 1e6 },
		"FLOPs":  func(a Amounts) bool { return a.FLOPs > 1e12 },
		"Money":  func(a Amounts) bool { return a.Money > 10 },
	} {
		l := NewLedger(Limits{Stalls: -1, Prices: models, Passed: func(a Amounts) string {
			if passes(a) {
				return limit
			}
			return ""
		}}, Amounts{})
		for _, most := range []int{math.MaxInt, math.MaxInt - 50, math.MaxInt / 2, 1 << 40, math.MinInt, -1 << 40} {
			req := llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hello"}}, MaxTokens: &most}
			c := l.Call(req, nil)
			refused := refusal(c.Begin(t.Context(), nil, "m")) == limit
			_, reserved := l.Sums()
			if refused != (most > 0) || reserved.Tokens < 0 || reserved.FLOPs < 0 || reserved.Money < 0 ||
				refused != (c.Full() != "") {
				t.Errorf("%s, a cap of %d: refused %v, %+v set aside", limit, most, refused, reserved)
			}
			c.Settle(nil)
		}
	}
}
