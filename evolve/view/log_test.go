package view

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/result"

	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
)

// meter returns what a meter has spent, 0 if it is not there.
func meter(s runState, name string) float64 {
	for _, m := range s.Meters {
		if m.Name == name {
			return m.Spent
		}
	}
	return 0
}

// The sums of a runState are those of the Result of the same run.
func TestSumsAreTheResults(t *testing.T) {
	for _, tt := range []struct {
		name string
		trial
	}{
		{"one search", trial{arms: 1, n: 5, rounds: 6}},
		{"several searches", trial{arms: 3, n: 4, rounds: 12}},
		{"several in flight", trial{arms: 4, n: 3, rounds: 16, inFlight: 3}},
		{"a target that is reached while others are in flight",
			trial{arms: 4, n: 3, rounds: 400, inFlight: 4, target: ptr(90.0)}},
		{"an evaluator that asks a judge", trial{arms: 2, n: 4, rounds: 8, judge: opinion}},
		{"a model that asks another", trial{arms: 2, n: 4, rounds: 8, model: thinker}},
		{"both, and a target that cuts them off", trial{arms: 4, n: 3, rounds: 400, inFlight: 4, target: ptr(40.0),
			model: thinker, judge: opinion}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.path = filepath.Join(t.TempDir(), "run.journal")
			res := tt.run(t)
			compareSums(t, read(t, tt.path).State(rowCursor{}), res)
		})
	}
}

// sent counts the children that were sent. One that the budget had no room for is a row of the page and not in a
// result.
func sent(c childColumns) (n int) {
	for i, state := range c.State {
		if state != childRefused || c.Program[i] != "" {
			n++
		}
	}
	return n
}

// compareSums compares a runState with the Result of the same run, and what earlier incarnations paid for.
func compareSums(t *testing.T, s runState, res *evolve.Result) {
	t.Helper()
	calls := slices.Concat(slices.Collect(res.EachCall), res.Earlier.Abandoned, res.Earlier.Unclaimed)
	for _, lost := range res.Earlier.Lost {
		calls = append(calls, []llm.Attempt{lost})
	}
	counts := result.Count(slices.Values(calls))
	tokens, children := 0, 0
	for _, c := range counts.Tokens {
		tokens += c.Prompt + c.Completion
	}
	for _, a := range res.Arms {
		for _, g := range a.Generations {
			children += len(g.Children)
		}
	}
	for _, sum := range []struct {
		name      string
		got, want float64
	}{
		{"calls", meter(s, "Calls"), float64(res.Calls)},
		{"tokens", meter(s, "Tokens"), float64(tokens)},
		{"FLOPs", meter(s, "FLOPs"), flops.Sum(slices.Values(slices.Concat(calls...)), 0, flops.WorstCase).TotalFLOPs},
		{"stalls", meter(s, "Stalls"), float64(counts.Attempts[llm.Stall])},
		{"evaluations", meter(s, "Evaluations"), float64(res.Evaluations)},
		{"children", float64(sent(s.Children)), float64(children)},
		{"rounds", float64(len(s.Rounds.Arm)), float64(len(res.Rounds))},
		{"best", *s.Children.Score[s.Best[0]], res.Best.Result.Score},
	} {
		if math.Abs(sum.got-sum.want) > 1e-9*math.Abs(sum.want) {
			t.Errorf("%s: %v in the state, %v in the result", sum.name, sum.got, sum.want)
		}
	}
}

// What ledgers have of each kind adds up to the children.
func TestLedgersAddUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	res := trial{path: path, arms: 3, n: 4, rounds: 12}.run(t)
	s := read(t, path).State(rowCursor{})
	improved := 0
	for _, a := range res.Arms {
		for _, g := range a.Generations {
			for _, c := range g.Children {
				if c.Scored() && c.Better(g.Before) {
					improved++
				}
			}
		}
	}
	for _, l := range s.Ledgers {
		var sum ledgerRow
		for _, r := range l.Rows {
			sum.Children, sum.Valid, sum.Improved = sum.Children+r.Children, sum.Valid+r.Valid, sum.Improved+r.Improved
			sum.Calls, sum.Tokens, sum.FLOPs = sum.Calls+r.Calls, sum.Tokens+r.Tokens, sum.FLOPs+r.FLOPs
			if r.Lift == 0 || r.LiftSE <= 0 || s.Children.State[r.Last] != childValid {
				t.Errorf("%s: row %+v", l.Kind, r)
			}
		}
		if sum.Children != len(s.Children.ID) || sum.Improved != improved || sum.Calls != res.Calls ||
			float64(sum.Tokens) != meter(s, "Tokens") || sum.FLOPs != meter(s, "FLOPs") {
			t.Errorf("%s: the rows sum to %+v: want %d children, of which %d improved, %d calls, %v tokens, %v FLOPs",
				l.Kind, sum, len(s.Children.ID), improved, res.Calls, meter(s, "Tokens"), meter(s, "FLOPs"))
		}
	}
	if len(s.Ledgers) != 3 {
		t.Errorf("%d ledgers, want those of operators, models and searches", len(s.Ledgers))
	}
}

// The columns that a page collects piece by piece are those of one that asks once.
func TestPiecesAreTheWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	r := trial{path: path, arms: 3, n: 4, rounds: 14, inFlight: 3}
	r.observe = func(e evolve.Event, cancel context.CancelFunc) {
		if e.Kind == evolve.EventGeneration && e.Pull.ID == 5 {
			cancel()
		}
	}
	r.run(t)
	r.observe = nil
	r.run(t)
	l := newLog("1", "run")
	var page runState
	for rec, err := range record.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		l.Add(rec)
		s := l.State(page.Next)
		page.Children.ID = append(page.Children.ID[:s.From.Children:s.From.Children], s.Children.ID...)
		page.Children.State = append(page.Children.State[:s.From.Children:s.From.Children], s.Children.State...)
		page.Children.Program = append(page.Children.Program[:s.From.Children:s.From.Children], s.Children.Program...)
		page.Rounds.Reward = append(page.Rounds.Reward[:s.From.Rounds:s.From.Rounds], s.Rounds.Reward...)
		page.Rounds.Over = append(page.Rounds.Over[:s.From.Rounds:s.From.Rounds], s.Rounds.Over...)
		page.Next = s.Next
	}
	whole := l.State(rowCursor{})
	for _, diff := range []string{cmp.Diff(whole.Children.ID, page.Children.ID),
		cmp.Diff(whole.Children.State, page.Children.State),
		cmp.Diff(whole.Children.Program, page.Children.Program), cmp.Diff(whole.Rounds.Reward, page.Rounds.Reward),
		cmp.Diff(whole.Rounds.Over, page.Rounds.Over)} {
		if diff != "" {
			t.Errorf("(-asked once +in pieces)\n%s", diff)
		}
	}
	if page.Next.Rounds != len(whole.Rounds.Arm) && whole.Status == "over" && !slices.Contains(whole.Rounds.Over, false) {
		t.Errorf("a run that is over sends from round %d of %d on", page.Next.Rounds, len(whole.Rounds.Arm))
	}
}

// A run that is canceled and goes on, twice, is one history. Its models and its evaluator ask others, whose calls are
// cut off as well.
func TestResumedRunIsOneHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	r := trial{path: path, arms: 2, n: 4, rounds: 9, model: thinker, judge: opinion}
	for _, stop := range []int{3, 6} {
		r.observe = func(e evolve.Event, cancel context.CancelFunc) {
			if e.Kind == evolve.EventGeneration && e.Pull.ID == stop {
				cancel()
			}
		}
		r.run(t)
		if s := read(t, path).State(rowCursor{}); s.Status != "canceled" {
			t.Errorf("after a cancel the status is %q", s.Status)
		}
	}
	r.observe = nil
	res := r.run(t)
	s := read(t, path).State(rowCursor{})
	compareSums(t, s, res)
	if s.Status != "over" {
		t.Errorf("status %q, want over", s.Status)
	}
	resumed := 0
	for _, n := range s.Messages {
		if n.Kind == "resumed" {
			resumed += n.Count
		}
	}
	if resumed != 2 {
		t.Errorf("%d times resumed in the messages, want 2: %v", resumed, s.Messages)
	}
}
