package ensemble_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/flops"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/ensemble"
)

// fixed gives each model a fixed chance and remembers what it is told.
type fixed struct {
	p    []float64
	told []bandit.Pull
	got  []float64
	seen []bandit.Round
}

func (f *fixed) Probs(p []float64, r bandit.Round) {
	copy(p, f.p)
	r.Pending = slices.Clone(r.Pending)
	f.seen = append(f.seen, r)
}

func (f *fixed) Update(pull bandit.Pull, reward float64) {
	f.told, f.got = append(f.told, pull), append(f.got, reward)
}

func (f *fixed) String() string { return "fixed" }

func model(key string, params int64) llm.Model { return llm.Model{Key: key, ActiveParams: params} }

// answers is a model whose every call comes to err and makes one attempt.
func answers(text string, err error) llm.LLM {
	return llm.Func(func(context.Context, llm.Request) (llm.Reply, error) {
		a := llm.Attempt{Status: llm.StatusOf(err), MaxTokens: 100}
		if err == nil {
			a.Usage = &llm.Usage{PromptTokens: 10, CompletionTokens: 5}
		}
		return llm.Reply{Text: text, Attempts: []llm.Attempt{a}}, err
	})
}

func three(t testing.TB, p bandit.Policy, seed uint64) *ensemble.Ensemble {
	t.Helper()
	e, err := ensemble.New(ensemble.Config{Policy: p, Seed: seed, Members: []ensemble.Member{
		{Model: model("small", 1), LLM: answers("s", nil)},
		{Model: model("medium", 10), LLM: answers("m", nil)},
		{Model: model("large", 100), LLM: answers("l", nil)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func ask(prompt string, seed int) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: prompt}}, Seed: uint32(seed)}
}

// The choice follows from the request and not from which call comes first; its frequencies are the
// policy's chances, which are recorded. With n calls of chance q a count has a standard deviation of
// √(n·q·(1-q)); the bound is five.
func TestChoiceIsAddressed(t *testing.T) {
	const n = 3000
	chances := []float64{0.2, 0.5, 0.3}
	run := func(seed uint64) []string {
		e := three(t, &fixed{p: chances}, seed)
		chosen := make([]string, n)
		var wg sync.WaitGroup
		for _, i := range rand.Perm(n) {
			wg.Go(func() {
				reply, err := e.Generate(t.Context(), ask("p", i))
				if err != nil {
					t.Error(err)
					return
				}
				chosen[i] = reply.Attempts[0].Model
				if want := chances[slices.Index([]string{"small", "medium", "large"},
					chosen[i])]; reply.Attempts[0].Propensity != want {
					t.Errorf("propensity %v of %s, want %v", reply.Attempts[0].Propensity, chosen[i], want)
				}
			})
		}
		wg.Wait()
		return chosen
	}
	a, b, other := run(1), run(1), run(2)
	if !slices.Equal(a, b) {
		t.Error("the order of the calls shows")
	}
	if slices.Equal(a, other) {
		t.Error("the seed does not show")
	}
	for i, key := range []string{"small", "medium", "large"} {
		count := 0
		for _, k := range a {
			if k == key {
				count++
			}
		}
		if d := math.Abs(float64(count) - n*chances[i]); d > 5*math.Sqrt(n*chances[i]*(1-chances[i])) {
			t.Errorf("%s was chosen %d times of %d", key, count, n)
		}
	}
}

// The same request again is another draw, so that a retry does not always meet the same model.
func TestChoiceOfTheSameRequestAgain(t *testing.T) {
	e := three(t, &fixed{p: []float64{0.3, 0.3, 0.4}}, 1)
	seen := map[string]int{}
	for range 300 {
		reply, _ := e.Generate(t.Context(), ask("p", 1))
		seen[reply.Text]++
	}
	if len(seen) != 3 {
		t.Errorf("chosen %v", seen)
	}
}

func TestEachModelIsChargedAtItsOwnSize(t *testing.T) {
	e := three(t, bandit.Random{}, 1)
	var attempts []llm.Attempt
	want := 0.0
	for i := range 100 {
		reply, err := e.Generate(t.Context(), ask("p", i))
		if err != nil {
			t.Fatal(err)
		}
		want += 2 * 15 * map[string]float64{"s": 1, "m": 10, "l": 100}[reply.Text]
		attempts = append(attempts, reply.Attempts...)
	}
	if got := flops.Sum(slices.Values(attempts), 999, flops.WorstCase).TotalFLOPs; got != want {
		t.Errorf("%v FLOPs, want %v", got, want)
	}
}

func TestLearnRewardsTheDrawWithItsPropensity(t *testing.T) {
	policy := &fixed{p: []float64{0.25, 0.5, 0.25}}
	e := three(t, policy, 3)
	var replies []llm.Reply
	for i := range 40 {
		reply, _ := e.Generate(t.Context(), ask("p", i))
		replies = append(replies, reply)
	}
	if inFlight := inFlight(e); inFlight != 40 {
		t.Errorf("%d in flight, want 40", inFlight)
	}
	for k, i := range rand.New(rand.NewPCG(1, 1)).Perm(40) { // late and out of order
		e.Learn(llm.Outcome{Attempts: replies[i].Attempts, Valid: true, Score: float64(i % 2), Parent: 0.5})
		pull := policy.told[k]
		if want := replies[i].Attempts[0]; pull.Prob != want.Propensity ||
			[]string{"small", "medium", "large"}[pull.Arm] != want.Model || policy.got[k] != float64(i%2) {
			t.Errorf("outcome %d: told %+v with %v", i, pull, policy.got[k])
		}
	}
	if inFlight := inFlight(e); inFlight != 0 {
		t.Errorf("%d in flight after all were learned", inFlight)
	}
}

func inFlight(e *ensemble.Ensemble) (n int) {
	for _, m := range e.Report().Members {
		n += m.InFlight
	}
	return n
}

func TestRewards(t *testing.T) {
	of := func(s llm.Status, kind string) []llm.Attempt {
		return []llm.Attempt{{Status: s, Kind: kind, Model: "small", Propensity: 0.5}}
	}
	for _, tt := range []struct {
		reason string
		o      llm.Outcome
		reward float64
		counts bool
	}{
		{"better than its parent", llm.Outcome{Attempts: of(llm.OK, ""), Valid: true, Score: 2, Parent: 1}, 1, true},
		{"as good", llm.Outcome{Attempts: of(llm.OK, ""), Valid: true, Score: 1, Parent: 1}, 0, true},
		{"no program", llm.Outcome{Attempts: of(llm.OK, ""), Parent: -1}, 0, true},
		{"stalled: slots and tokens for nothing", llm.Outcome{Attempts: of(llm.Stalled, "")}, 0, true},
		{"timed out", llm.Outcome{Attempts: of(llm.Timeout, "")}, 0, true},
		{"a server's fault is not the model's", llm.Outcome{Attempts: of(llm.Failed, llm.KindServer)}, 0, false},
		{"given up", llm.Outcome{Attempts: of(llm.Canceled, "")}, 0, false},
		{"nothing was sent", llm.Outcome{}, 0, false},
	} {
		if reward, counts := ensemble.Improved(tt.o); reward != tt.reward || counts != tt.counts {
			t.Errorf("%s: %v, %v", tt.reason, reward, counts)
		}
	}
}

// Around the ensemble, Retry draws again; each draw is learned from.
func TestLearnThroughRetry(t *testing.T) {
	policy := &fixed{p: []float64{0.5, 0.5}}
	stall := &llm.Error{Status: llm.Stalled, Err: errors.New("silence")}
	e, err := ensemble.New(ensemble.Config{Policy: policy, Members: []ensemble.Member{
		{Model: model("bad", 1), LLM: llm.Retry(answers("", stall),
			llm.RetryConfig{Max: 1, Wait: -1})}, // two attempts a draw
		{Model: model("good", 2), LLM: answers("x", nil)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	l := llm.Retry(llm.Limit(e, 4), llm.RetryConfig{Max: 50, Wait: -1})
	learner, ok := llm.As[llm.Learner](l)
	if !ok {
		t.Fatal("the ensemble is not found")
	}
	bad, attempts := 0, 0
	for i := range 50 {
		reply, err := l.Generate(t.Context(), ask("p", i))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range reply.Attempts {
			attempts++
			if a.Propensity > 0 && a.Model == "bad" {
				bad++
			}
		}
		learner.Learn(llm.Outcome{Attempts: reply.Attempts, Valid: true, Score: 1})
	}
	var sums [2]float64
	var counts [2]int
	for i, pull := range policy.told {
		sums[pull.Arm] += policy.got[i]
		counts[pull.Arm]++
	}
	if bad == 0 || counts != [2]int{bad, 50} || sums != [2]float64{0, 50} || attempts != 2*bad+50 {
		t.Errorf("told of %v draws with rewards of %v in all; %d draws of the bad one and %d attempts", counts, sums, bad,
			attempts)
	}
	if n := inFlight(e); n != 0 {
		t.Errorf("%d in flight", n)
	}
}

// What was journaled is learned again without the ensemble being asked, and it goes on as if it had
// never stopped: also after what the journal keeps of it went through JSON.
func TestLearnAgainInTheNextLife(t *testing.T) {
	policies := map[string]func() bandit.Policy{
		"Thompson": func() bandit.Policy { return &bandit.GaussianThompson{Sigma: 0.4} },
		"EXP3.P":   func() bandit.Policy { return bandit.WithFloor(&bandit.PaperEXP3P{}, 0.02) },
		"UCB1":     func() bandit.Policy { return &bandit.UCB1{} },
	}
	const generations, n = 12, 16
	for name, policy := range policies {
		play := func(e *ensemble.Ensemble, from int, journal *[]llm.Outcome) (chosen string) {
			for g := from; g < generations; g++ {
				outcomes := make([]llm.Outcome, n)
				var wg sync.WaitGroup
				for i := range n {
					wg.Go(func() {
						reply, err := e.Generate(t.Context(), ask(fmt.Sprint(g), i))
						if err != nil {
							t.Error(err)
						}
						score := map[string]float64{"s": 0.1, "m": 0.9, "l": 0.5}[reply.Text]
						outcomes[i] = llm.Outcome{Attempts: reply.Attempts, Valid: true, Score: score, Parent: float64((g*n+i)%7) / 7}
					})
				}
				wg.Wait()
				for _, o := range outcomes {
					e.Learn(o)
					chosen += o.Attempts[0].Model[:1]
				}
				*journal = append(*journal, outcomes...)
			}
			return chosen
		}
		var journal, rest []llm.Outcome
		undisturbed := play(three(t, policy(), 5), 0, &journal)
		for _, killed := range []int{0, 1, 5, generations - 1} {
			e := three(t, policy(), 5)
			for _, o := range journal[:killed*n] {
				data, err := json.Marshal(o)
				if err != nil {
					t.Fatal(err)
				}
				var back llm.Outcome
				if err := json.Unmarshal(data, &back); err != nil {
					t.Fatal(err)
				}
				e.Learn(back)
			}
			if got := play(e, killed, &rest); got != undisturbed[killed*n:] {
				t.Errorf("%s, killed after %d generations:\n goes on %s\nand not %s", name, killed, got, undisturbed[killed*n:])
			}
		}
	}
}

func TestPendingIsHidden(t *testing.T) {
	policy := &fixed{p: []float64{1, 0}}
	e, err := ensemble.New(ensemble.Config{Policy: policy, Members: []ensemble.Member{
		{Model: model("a", 1), LLM: answers("a", nil)}, {Model: model("b", 1), LLM: answers("b", nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		e.Generate(t.Context(), ask("p", i))
	}
	last := policy.seen[2]
	last.Rand = nil
	if diff := cmp.Diff(bandit.Round{Open: []bool{true, true}, Pending: []int{0, 0}}, last); diff != "" {
		t.Error(diff)
	}
}

func TestNothingToLearnFrom(t *testing.T) {
	policy := &fixed{p: []float64{1}}
	refused := &llm.Error{Status: llm.Failed, Kind: llm.KindRefused, Err: errors.New("connection refused")}
	calls := 0
	e, err := ensemble.New(ensemble.Config{Policy: policy, Members: []ensemble.Member{{Model: model("a", 1), LLM: llm.Func(
		func(context.Context, llm.Request) (llm.Reply, error) {
			if calls++; calls == 2 {
				panic("mine")
			}
			return llm.Reply{}, refused
		})}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Generate(t.Context(), ask("p", 1)); !llm.Unavailable(err) {
		t.Errorf("error %v: a model that cannot be used is hidden", err)
	}
	func() {
		defer func() { recover() }()
		e.Generate(t.Context(), ask("p", 2))
	}()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Generate(ended, ask("p", 3)); !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("error %v after %d calls", err, calls)
	}
	for _, o := range []llm.Outcome{
		{}, // no attempts
		{Attempts: []llm.Attempt{{Model: "a"}}, Valid: true, Score: 1},                    // no draw
		{Attempts: []llm.Attempt{{Model: "other", Propensity: 0.5}}, Valid: true},         // no member
		{Attempts: []llm.Attempt{{Model: "a", Propensity: 1.5}}, Valid: true},             // no chance
		{Attempts: []llm.Attempt{{Model: "a", Propensity: 1, Status: llm.Canceled}}},      // says nothing
		{Attempts: []llm.Attempt{{Model: "a", Propensity: math.NaN(), Status: llm.OK}}},   // no number
		{Attempts: []llm.Attempt{{Model: "a", Propensity: math.Inf(1), Status: llm.OK}}},  // no number
		{Attempts: []llm.Attempt{{Model: "a", Propensity: -1, Status: llm.OK}}, Score: 1}, // no chance
	} {
		e.Learn(o)
	}
	if len(policy.told) != 0 || inFlight(e) != 0 {
		t.Errorf("told %v, %d in flight", policy.told, inFlight(e))
	}
	if r := e.Report(); r.Unknown != 3 || r.Members[0].Skipped != 1 {
		t.Errorf("%+v", r)
	}
}

func TestRewardOfOnesOwn(t *testing.T) {
	policy := &fixed{p: []float64{1}}
	e, err := ensemble.New(ensemble.Config{
		Policy:  policy,
		Members: []ensemble.Member{{Model: model("a", 1), LLM: answers("x", nil)}},
		Reward:  func(o llm.Outcome) (float64, bool) { return o.Score / o.Parent, true },
	})
	if err != nil {
		t.Fatal(err)
	}
	reply, _ := e.Generate(t.Context(), ask("p", 1))
	e.Learn(llm.Outcome{Attempts: reply.Attempts, Valid: true, Score: 0.5}) // over 0: not finite, so it does not count
	reply, _ = e.Generate(t.Context(), ask("p", 2))
	e.Learn(llm.Outcome{Attempts: reply.Attempts, Valid: true, Score: 0.5, Parent: 2})
	if !slices.Equal(policy.got, []float64{0.25}) || inFlight(e) != 0 {
		t.Errorf("rewards %v", policy.got)
	}
}

// The model that improves more often comes to get most of the calls.
func TestBetterModelIsFound(t *testing.T) {
	e := three(t, bandit.WithFloor(&bandit.GaussianThompson{Sigma: 0.4}, 0.03), 9)
	rates := map[string]float64{"small": 0.05, "medium": 0.1, "large": 0.5}
	rng := rand.New(rand.NewPCG(4, 4))
	late := map[string]int{}
	for g := range 40 {
		for i := range 32 {
			reply, err := e.Generate(t.Context(), ask(fmt.Sprint(g), i))
			if err != nil {
				t.Fatal(err)
			}
			key := reply.Attempts[0].Model
			if g >= 20 {
				late[key]++
			}
			score := 0.0
			if rng.Float64() < rates[key] {
				score = 1
			}
			e.Learn(llm.Outcome{Attempts: reply.Attempts, Valid: true, Score: score})
		}
	}
	if late["large"] < 500 || late["small"] == 0 {
		t.Errorf("chosen %v in the second half, of 640", late)
	}
}

func TestTogether(t *testing.T) {
	e := three(t, bandit.Random{}, 1)
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			reply, err := e.Generate(t.Context(), ask("p", i))
			if err != nil {
				t.Error(err)
			}
			if i%5 > 0 {
				e.Learn(llm.Outcome{Attempts: reply.Attempts, Valid: true})
			}
			_ = e.Report().String()
		})
	}
	wg.Wait()
	r := e.Report()
	calls, learned := 0, 0
	for _, m := range r.Members {
		calls, learned = calls+m.Calls, learned+m.Learned
	}
	if calls != 500 || learned != 400 || inFlight(e) != 100 {
		t.Errorf("%d calls, %d learned, %d in flight", calls, learned, inFlight(e))
	}
}

func TestNewRejects(t *testing.T) {
	a := ensemble.Member{Model: model("a", 1), LLM: answers("", nil)}
	for _, tt := range []struct {
		reason string
		cfg    ensemble.Config
	}{
		{"no members", ensemble.Config{Policy: bandit.Random{}}},
		{"no policy", ensemble.Config{Members: []ensemble.Member{a}}},
		{"no LLM", ensemble.Config{Policy: bandit.Random{}, Members: []ensemble.Member{{Model: model("a", 1)}}}},
		{"no key", ensemble.Config{Policy: bandit.Random{}, Members: []ensemble.Member{{LLM: a.LLM}}}},
		{"a key twice", ensemble.Config{Policy: bandit.Random{}, Members: []ensemble.Member{a, a}}},
		{"an ensemble in it", ensemble.Config{Policy: bandit.Random{}, Members: []ensemble.Member{
			{Model: model("b", 1), LLM: llm.Limit(three(t, bandit.Random{}, 1), 3)}}}},
	} {
		if e, err := ensemble.New(tt.cfg); err == nil || !strings.HasPrefix(err.Error(), "ensemble: ") {
			t.Errorf("%s: %v, error %v", tt.reason, e, err)
		}
	}
}

// A policy that gives chances that are none is an error, not a draw.
func TestPolicyThatIsWrong(t *testing.T) {
	e := three(t, &fixed{p: []float64{0.5, 0.5, 0.5}}, 1)
	if _, err := e.Generate(t.Context(), ask("p", 1)); err == nil || !strings.Contains(err.Error(), "sum to 1.5") {
		t.Errorf("error %v", err)
	}
}
