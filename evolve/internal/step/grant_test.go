package step

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/evoalloc/evoalloc/llm"
)

// Sessions are granted what they want, or what is left once those before them have ended, whatever their speed.
func TestGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, ctx := atMost(5, -1), context.Background()
		call := func(g *Grant) {
			t.Helper()
			c := l.Call(llm.Request{}, g)
			if err := c.Begin(ctx, nil, ""); err != nil {
				t.Fatal(err)
			}
			c.Settle([]llm.Attempt{{Status: llm.OK}})
		}
		var first, second, third Grant
		if n, err := l.Grant(ctx, nil, &first, 4); n != 4 || err != nil {
			t.Fatal(n, err)
		}
		granted := make(chan int)
		go func() {
			n, _ := l.Grant(ctx, nil, &second, 4)
			granted <- n
		}()
		call(&first)
		synctest.Wait()
		select {
		case n := <-granted:
			t.Fatalf("%d calls are granted that the first may use", n)
		default:
		}
		call(&first)
		l.GiveBack(&first, 4)
		if n := <-granted; n != 3 {
			t.Errorf("%d of the 3 calls that are left are granted", n)
		}
		for range 3 {
			call(&second)
		}
		l.GiveBack(&second, 4)
		_, err := l.Grant(ctx, nil, &third, 4)
		if limit, refused := Refusal(err); !refused || limit != "Calls" {
			t.Errorf("a session when nothing is left: %v", err)
		}
		if s, r := l.Sums(); s.Calls != 5 || r.Calls != 0 {
			t.Errorf("%d spent, %d set aside", s.Calls, r.Calls)
		}
	})
}

// A session that is made again does not wait for what its own answers of an earlier incarnation take.
func TestGrantBesideArrears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := atMost(8, -1)
		var g Grant
		l.Again(&g, 8)
		l.Book(Size{}, []llm.Attempt{{Status: llm.OK}})
		for range 7 {
			c := l.Call(llm.Request{}, &g)
			if err := c.Begin(t.Context(), nil, ""); err != nil {
				t.Fatal(err)
			}
			c.Settle([]llm.Attempt{{Status: llm.OK}})
		}
		l.GiveBack(&g, 8)
		if s, r := l.Sums(); s.Calls != 8 || r.Calls != 0 {
			t.Errorf("%d spent, %d set aside", s.Calls, r.Calls)
		}
	})
}

// A call that has left its queue does not wait for what a session has: the session's next call may wait for its place.
func TestCallsBesideGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := atMost(3, -1)
		var g Grant
		if n, err := l.Grant(t.Context(), nil, &g, 3); n != 3 || err != nil {
			t.Fatal(n, err)
		}
		c := l.Call(llm.Request{}, nil)
		if err := c.Begin(t.Context(), nil, ""); !errors.Is(err, ErrGranted) {
			t.Fatalf("beside a session that has all calls: %v", err)
		}
		waited := make(chan error)
		go func() { waited <- l.AwaitGrants(t.Context(), nil) }()
		synctest.Wait()
		l.GiveBack(&g, 2)
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
		if err := c.Begin(t.Context(), nil, ""); err != nil {
			t.Errorf("after the session gave two back: %v", err)
		}
	})
}
