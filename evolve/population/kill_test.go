package population_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
)

// mixedRun makes or resumes a run of two mixed populations, and returns its result and how many calls were sent.
func mixedRun(t *testing.T, path string, l llm.LLM, window int, order evolve.Order, inFlight int) (*evolve.Result, []byte, int) {
	t.Helper()
	var sent atomic.Int64
	counted := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		sent.Add(1)
		return l.Generate(ctx, req)
	})
	var arms []evolve.Arm
	for seed := range uint32(2) {
		p, err := mixed(counted, 40+seed, window, order)
		if err != nil {
			t.Fatal(err)
		}
		arms = append(arms, p)
	}
	j, err := journal.Open(path, journal.Config{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, InFlight: inFlight,
		Budget: evolve.Budget{Rounds: 5}, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(report.NewBandit(res, report.BanditHeader{ArmSeeds: []uint32{40, 41}}), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return res, data, int(sent.Load())
}

// A run of populations with a part of every kind is killed after each record of its journal, and resumed. What was
// paid for is not paid for again, and the result is the undisturbed run's, or, where what ends first decides, the
// resumed run's own when it is read again. The budget is one of rounds: which of a gate's calls finds no room in one of
// calls, time decides.
func TestKilled(t *testing.T) {
	for _, tt := range notrun.Few([]struct {
		window, inFlight int
		order            evolve.Order
	}{
		{0, 1, evolve.ByIndex},
		{7, 1, evolve.ByIndex},
		{7, 2, evolve.AsTheyEnd},
	}, 0, 2) {
		t.Run(fmt.Sprintf("window %d, %d in flight, %v", tt.window, tt.inFlight, tt.order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				whole := filepath.Join(t.TempDir(), "run.journal")
				res, want, most := mixedRun(t, whole, late(1), tt.window, tt.order, tt.inFlight)
				checkMixed(t, res)
				for cut := range killtest.About(t, whole, 1, 12) {
					n, path := cut.Records, cut.Path
					time.Sleep(time.Hour)
					_, got, sent := mixedRun(t, path, late(1), tt.window, tt.order, tt.inFlight)
					answered := cut.Count("completion")
					if sent > most-answered && tt.order == evolve.ByIndex {
						t.Errorf("killed after record %d it has %d answers, and sends %d calls of %d", n, answered, sent, most)
					}
					if tt.order == evolve.AsTheyEnd {
						_, want, sent = mixedRun(t, path, late(2), tt.window, tt.order, tt.inFlight)
						if sent > 0 {
							t.Errorf("killed after record %d, the finished run sends %d calls again", n, sent)
						}
					}
					if diff := cmp.Diff(killtest.Comparable(t, want), killtest.Comparable(t, got)); diff != "" {
						t.Fatalf("killed after record %d, it comes to another result:\n%.3000s", n, diff)
					}
				}
			})
		})
	}
}

// checkMixed checks that the run did what the test is about: every operator made children, gates refused some, and
// memories and judges were asked.
func checkMixed(t *testing.T, res *evolve.Result) {
	t.Helper()
	made, refused, asides := map[string]int{}, map[string]int{}, map[string]int{}
	gate := regexp.MustCompile(`^refused by (\w+)`)
	for _, arm := range res.Arms {
		for _, g := range arm.Generations {
			for _, c := range g.Children {
				made[c.Operator]++
				if m := gate.FindStringSubmatch(c.Err); m != nil {
					refused[m[1]]++
				}
			}
			for _, a := range g.Asides {
				asides[a.Kind]++
			}
		}
	}
	for _, o := range []string{"rewrite", "explore", "cross", "repair", "merge", "constants", "one line"} {
		if made[o] == 0 {
			t.Errorf("no child is by %s, so the test does not see it: %v", o, made)
		}
	}
	if refused["Unlike"] == 0 || refused["Screen"] == 0 {
		t.Errorf("gates refused %v", refused)
	}
	if asides["judge"] == 0 || asides["insights"] == 0 {
		t.Errorf("asides %v", asides)
	}
}
