package bandit_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

// fixed gives the same probabilities at every draw, right or wrong.
type fixed []float64

func (f fixed) Probs(p []float64, r bandit.Round) { copy(p, f) }
func (fixed) Update(bandit.Pull, float64)         {}
func (fixed) String() string                      { return "fixed()" }

func TestPlayerRoutesOutcomes(t *testing.T) {
	l := &listener{}
	pl := bandit.NewPlayer(l, 3, 1)
	var pulls []bandit.Pull
	for i, open := range [][]bool{all(3), {false, true, true}, {false, false, true}, all(3)} {
		pull, err := pl.Draw(open)
		if err != nil {
			t.Fatal(err)
		}
		if want := (bandit.Pull{ID: i, Arm: i % 3, Prob: 1, Arms: 3}); pull != want {
			t.Errorf("draw %d is %+v, want %+v", i, pull, want)
		}
		pulls = append(pulls, pull)
	}
	if pl.InFlight() != 4 {
		t.Errorf("%d pulls pending, want 4", pl.InFlight())
	}
	for _, step := range []struct {
		reason   string
		do       func() error
		wrong    string
		inFlight int
	}{
		{"out of order", func() error { return pl.Report(2, 0.2) }, "", 3},
		{"twice", func() error { return pl.Report(2, 0.2) }, "pull 2, which is not pending", 3},
		{"canceled", func() error { return pl.Cancel(1) }, "", 2},
		{"canceled twice", func() error { return pl.Cancel(1) }, "pull 1, which is not pending", 2},
		{"reported after all", func() error { return pl.Report(1, 1) }, "pull 1, which is not pending", 2},
		{"canceled when reported", func() error { return pl.Cancel(2) }, "pull 2, which is not pending", 2},
		{"never drawn", func() error { return pl.Report(4, 1) }, "pull 4, which is not pending", 2},
		{"no number", func() error { return pl.Report(0, math.NaN()) }, "reward NaN of pull 0", 2},
		{"not finite", func() error { return pl.Report(0, math.Inf(-1)) }, "reward -Inf of pull 0", 2},
		{"a wrong report leaves the pull pending", func() error { return pl.Report(0, 0.1) }, "", 1},
	} {
		err := step.do()
		if (err == nil) != (step.wrong == "") || err != nil &&
			!(strings.HasPrefix(err.Error(), "bandit: ") && strings.Contains(err.Error(), step.wrong)) {
			t.Errorf("%s: error %v, want %q", step.reason, err, step.wrong)
		}
		if pl.InFlight() != step.inFlight {
			t.Errorf("%s: %d pending pulls, want %d", step.reason, pl.InFlight(), step.inFlight)
		}
	}
	if want := []bandit.Pull{pulls[2], pulls[0]}; !slices.Equal(l.pulls, want) ||
		!slices.Equal(l.rewards, []float64{0.2, 0.1}) {
		t.Errorf("the policy heard %+v, %v, want %+v", l.pulls, l.rewards, want)
	}
}

func TestPlayerDrawErrors(t *testing.T) {
	for _, tt := range []struct {
		reason string
		probs  fixed
		open   []bool
		want   string // "" for none
	}{
		{"too little", fixed{0.5, 0.4}, all(2), "sum to 0.9"},
		{"too much", fixed{0.6, 0.6}, all(2), "sum to 1.2"},
		{"nothing at all", fixed{0, 0}, all(2), "sum to 0"},
		{"less than nothing", fixed{-0.5, 1.5}, all(2), "probability -0.5 of arm 0"},
		{"no number", fixed{1, math.NaN()}, all(2), "probability NaN of arm 1"},
		{"infinite", fixed{math.Inf(1), 0}, all(2), "probability +Inf of arm 0"},
		{"a closed arm", fixed{0.5, 0.5}, []bool{true, false}, "probability 0.5 of arm 1, which is closed"},
		{"rounding is forgiven", fixed{0.5, 0.5 + 1e-7}, all(2), ""},
	} {
		pl := bandit.NewPlayer(tt.probs, 2, 1)
		pull, err := pl.Draw(tt.open)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.reason, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "bandit: fixed() at draw 0: ") ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, error %v, want %q", tt.reason, pull, err, tt.want)
		}
		if pl.InFlight() != 0 {
			t.Errorf("%s: a pull is pending", tt.reason)
		}
	}
	if _, err := bandit.NewPlayer(fixed{1}, 1, 1).Draw([]bool{false}); !errors.Is(err, bandit.ErrNoArm) {
		t.Errorf("every arm closed: %v, want ErrNoArm", err)
	}
}

func TestPlayerPanics(t *testing.T) {
	wantPanic(t, "no policy", func() { bandit.NewPlayer(nil, 2, 1) }, "need a policy")
	wantPanic(t, "no arm", func() { bandit.NewPlayer(bandit.Random{}, 0, 1) }, "0 arms")
	wantPanic(t, "calls of other arms", func() {
		bandit.NewPlayer(bandit.Random{}, 2, 1).DrawSized(all(2), []int{1, 2, 3}, nil)
	}, "calls of 3 arms and costs of 0 for 2 arms")
	wantPanic(t, "no calls", func() { bandit.NewPlayer(bandit.Random{}, 2, 1).DrawSized(all(2), nil, nil) },
		"calls of 0 arms and costs of 0 for 2 arms")
	wantPanic(t, "costs of other arms", func() {
		bandit.NewPlayer(bandit.Random{}, 2, 1).DrawSized(all(2), []int{1, 1}, []float64{1})
	}, "calls of 2 arms and costs of 1 for 2 arms")
	wantPanic(t, "less than the least cost", func() {
		bandit.NewPlayer(bandit.Random{}, 2, 1).DrawSized(all(2), []int{1, 1}, []float64{1, 0.5})
	}, "cost of 0.5 of arm 1")
	wantPanic(t, "a shorter list", func() { bandit.NewPlayer(bandit.Random{}, 2, 1).Draw(all(1)) }, "1 entries for 2 arms")
}

// In n draws an arm of chance p is drawn n·p times, with a variance of n·p·(1−p); five standard
// deviations are allowed. One of chance 0 never is.
func TestPlayerDrawsFromTheProbabilities(t *testing.T) {
	const n = 50000
	p := fixed{0, 0.5, 0.3, 0, 0.19, 0.01, 0}
	pulls := play(t, p, n, 8, slices.Repeat([]func(*rand.Rand) float64{bernoulli(1)}, len(p)))
	for arm, got := range pulls {
		if sd := math.Sqrt(n * p[arm] * (1 - p[arm])); math.Abs(float64(got)-n*p[arm]) > 5*sd {
			t.Errorf("arm %d was drawn %d times, want %v ± %v", arm, got, n*p[arm], 5*sd)
		}
	}
}

// thirsty uses its stream at some draws, which must not sway the pick of arms.
type thirsty struct {
	bandit.Random
	words int
}

func (p thirsty) Probs(probs []float64, r bandit.Round) {
	p.Random.Probs(probs, r)
	for range p.words {
		r.Rand.Uint64()
	}
}

// A draw depends on the seed, its number and the policy's probabilities. It does not depend on how many random
// numbers the policy used, on reports in between or on the draws of other players.
func TestPlayerStreams(t *testing.T) {
	run := func(p bandit.Policy, seed uint64, report bool) []bandit.Pull {
		pl := bandit.NewPlayer(p, 10, seed)
		var pulls []bandit.Pull
		for range 100 {
			pull, err := pl.Draw(all(10))
			if err != nil {
				t.Fatal(err)
			}
			if pulls = append(pulls, pull); report {
				if err := pl.Report(pull.ID, 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		return pulls
	}
	base := run(bandit.Random{}, 1, true)
	for reason, other := range map[string][]bandit.Pull{
		"a rerun":                   run(bandit.Random{}, 1, true),
		"a policy that uses chance": run(thirsty{words: 5}, 1, true),
		"one hundred pending pulls": run(bandit.Random{}, 1, false),
	} {
		if !slices.Equal(base, other) {
			t.Errorf("%s draws other arms", reason)
		}
	}
	if slices.Equal(base, run(bandit.Random{}, 2, true)) {
		t.Error("another seed draws the same arms")
	}
}

// turns takes the arms in turn and relies on p coming in zeroed.
type turns struct{ bandit.Random }

func (turns) Probs(p []float64, r bandit.Round) { p[r.T%len(p)] = 1 }

func TestProbsComeInZeroed(t *testing.T) {
	for _, p := range []bandit.Policy{turns{}, bandit.WithFloor(turns{}, 0),
		bandit.Mix([]float64{1, 1}, turns{}, turns{})} {
		pl := bandit.NewPlayer(p, 3, 1)
		for i := range 7 {
			if pull, err := pl.Draw(all(3)); err != nil || pull.Arm != i%3 {
				t.Errorf("%v: draw %d is %+v, error %v", p, i, pull, err)
			}
		}
	}
}

// The round that Probs is given is right.
type observer struct {
	bandit.Random
	t       *testing.T
	draws   int
	pending []int
	first   uint64 // of the policy's stream
}

func (o *observer) Probs(p []float64, r bandit.Round) {
	o.Random.Probs(p, r)
	word := r.Rand.Uint64()
	if r.T != o.draws || !slices.Equal(r.Pending, o.pending) || len(r.Open) != len(o.pending) || word == o.first {
		o.t.Errorf("draw %d: T %d, pending %v, want %v; stream begins %x after %x", o.draws, r.T, r.Pending, o.pending, word,
			o.first)
	}
	o.first = word
	o.draws++
}

func TestPlayerTellsTheRound(t *testing.T) {
	const arms = 4
	o := &observer{t: t, pending: make([]int, arms)}
	pl, rng := bandit.NewPlayer(o, arms, 3), newRand(3)
	var waiting []bandit.Pull
	for range 200 {
		pull, err := pl.Draw(all(arms))
		if err != nil {
			t.Fatal(err)
		}
		o.pending[pull.Arm]++
		waiting = append(waiting, pull)
		for len(waiting) > 0 && rng.IntN(2) == 0 {
			i := rng.IntN(len(waiting))
			end := func() error { return pl.Report(waiting[i].ID, 1) }
			if rng.IntN(3) == 0 {
				end = func() error { return pl.Cancel(waiting[i].ID) }
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			o.pending[waiting[i].Arm]--
			waiting = slices.Delete(waiting, i, i+1)
		}
	}
}

// sizes writes down the calls that it is told of, at draws and with outcomes.
type sizes struct {
	bandit.Random
	told  [][]int
	pulls []bandit.Pull
}

func (s *sizes) Probs(p []float64, r bandit.Round) {
	s.told = append(s.told, slices.Clone(r.Calls))
	s.Random.Probs(p, r)
}

func (s *sizes) Update(pull bandit.Pull, _ float64) { s.pulls = append(s.pulls, pull) }

// The policy is told of all arms' calls, and a pull has those of its arm. Draws that do not tell have none. What is
// drawn does not depend on it.
func TestPlayerTellsCalls(t *testing.T) {
	s := &sizes{}
	sized, plain := bandit.NewPlayer(s, 3, 7), bandit.NewPlayer(bandit.Random{}, 3, 7)
	for n := range 40 {
		calls := []int{n, 2 * n, 0}
		pull, err := sized.DrawSized(all(3), calls, nil)
		if err != nil {
			t.Fatal(err)
		}
		other, err := plain.Draw(all(3))
		if err != nil {
			t.Fatal(err)
		}
		if pull.Calls != calls[pull.Arm] || other.Calls != 0 || pull.Arm != other.Arm || pull.Prob != other.Prob {
			t.Errorf("draw %d: %+v with calls %v, %+v without", n, pull, calls, other)
		}
		if err := sized.Report(pull.ID, 1); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.told[n], calls) || s.pulls[n] != pull {
			t.Errorf("draw %d of %+v: the policy is told %v, and then %+v", n, pull, s.told[n], s.pulls[n])
		}
	}
	if pull, err := sized.DrawAt(all(3), 9, nil); err != nil || pull.Calls != 0 || s.told[40] != nil {
		t.Errorf("a draw that does not tell: %+v, %v, the policy is told %v", pull, err, s.told[40])
	}
	if pull, err := sized.Adopt(1, 0.5); err != nil || pull.Calls != 0 {
		t.Errorf("an adopted pull: %+v, %v", pull, err)
	}
	if _, err := sized.DrawSized([]bool{false, false, false}, []int{1, 1, 1}, nil); !errors.Is(err, bandit.ErrNoArm) {
		t.Errorf("every arm closed: %v, want ErrNoArm", err)
	}
}
