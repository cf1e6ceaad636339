package bandittest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

// report collects what Run says.
type report struct{ failures []string }

var _ bandittest.T = (*report)(nil)

func (*report) Helper() {}

func (r *report) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// failed returns the names of the checks that failed.
func (r *report) failed() []string {
	var names []string
	for _, name := range []string{"prints", "distribution", "closed arms", "purity", "late outcomes", "sized pulls",
		"costs", "adopted pulls", "rerun", "one arm", "many arms", "extreme rewards", "rewards that are not finite",
		"many rounds"} {
		if slices.ContainsFunc(r.failures, func(f string) bool { return strings.Contains(f, ": "+name+": ") }) {
			names = append(names, name)
		}
	}
	return names
}

// broken is a policy with parts that can be replaced by wrong ones.
type broken struct {
	bandit.Policy
	probs  func(p []float64, r bandit.Round)
	update func(pull bandit.Pull, reward float64)
	print  func() string
}

func (b *broken) Probs(p []float64, r bandit.Round) {
	b.Policy.Probs(p, r)
	if b.probs != nil {
		b.probs(p, r)
	}
}

func (b *broken) Update(pull bandit.Pull, reward float64) {
	b.Policy.Update(pull, reward)
	if b.update != nil {
		b.update(pull, reward)
	}
}

func (b *broken) String() string {
	if b.print != nil {
		return b.print()
	}
	return "broken"
}

// favor moves half of the mass to an open arm.
func favor(p []float64, r bandit.Round, arm int) {
	if arm < 0 || arm >= len(p) || !r.Open[arm] {
		return
	}
	for i := range p {
		p[i] /= 2
	}
	p[arm] += 0.5
}

var brokenPolicies = []struct {
	reason string
	want   []string // the checks that fail
	fresh  func() bandit.Policy
}{
	{"no String method", []string{"prints"}, func() bandit.Policy {
		return nameless{&bandit.UCB1{}}
	}},
	{"prints nothing", []string{"prints"}, func() bandit.Policy {
		return &broken{Policy: &bandit.UCB1{}, print: func() string { return "" }}
	}},
	{"prints its address, so equal ones differ", []string{"prints"}, func() bandit.Policy {
		b := &broken{Policy: &bandit.UCB1{}}
		b.print = func() string { return fmt.Sprintf("broken(%p)", b) }
		return b
	}},
	{"prints its state", []string{"prints"}, func() bandit.Policy {
		n := 0
		return &broken{Policy: &bandit.UCB1{}, print: func() string { return fmt.Sprintf("broken(n=%d)", n) },
			update: func(bandit.Pull, float64) { n++ }}
	}},
	{"half of the mass lost with three arms", []string{"distribution"}, func() bandit.Policy {
		return &broken{Policy: bandit.Random{}, probs: func(p []float64, _ bandit.Round) {
			if len(p) == 3 {
				p[0] /= 2
			}
		}}
	}},
	{"a negative probability, though the sum is 1", []string{"distribution", "closed arms"}, func() bandit.Policy {
		return &broken{Policy: bandit.Random{}, probs: func(p []float64, r bandit.Round) {
			if len(p) > 2 && r.Open[0] && r.Open[1] && !r.Open[2] {
				p[0], p[1] = -p[0], p[1]+2*p[0]
			}
		}}
	}},
	{"mass on a closed arm once it was pulled", []string{"distribution", "closed arms", "purity", "late outcomes"},
		func() bandit.Policy {
			last := 0
			return &broken{Policy: bandit.Random{}, update: func(pull bandit.Pull, _ float64) { last = pull.Arm },
				probs: func(p []float64, r bandit.Round) {
					if !r.Open[last] {
						clear(p)
						p[last] = 1
					}
				}}
		}},
	{"stuck on an arm when all others are closed", []string{"closed arms"}, func() bandit.Policy {
		return &broken{Policy: bandit.Random{}, probs: func(p []float64, r bandit.Round) {
			if len(p) == 5 && r.T > 0 && !slices.Contains(r.Open[1:], true) {
				p[0], p[1] = 0.5, 0.5
			}
		}}
	}},
	{"counts calls of Probs", []string{"purity"}, func() bandit.Policy {
		n := 0
		return &broken{Policy: bandit.Random{}, probs: func(p []float64, r bandit.Round) {
			n++
			favor(p, r, n%len(p))
		}}
	}},
	{"credits the arm that it last favored, not the one pulled", []string{"purity"}, func() bandit.Policy {
		favored, sum := 0, map[int]float64{}
		return &broken{Policy: bandit.Random{}, update: func(_ bandit.Pull, x float64) { sum[favored] += x },
			probs: func(p []float64, r bandit.Round) {
				favored = slices.Index(r.Open, true)
				for arm := range p {
					if r.Open[arm] && sum[arm] < sum[favored] {
						favored = arm
					}
				}
				favor(p, r, favored)
			}}
	}},
	{"closes an arm itself, in the round", []string{"purity"}, func() bandit.Policy {
		return &broken{Policy: bandit.Random{}, probs: func(p []float64, r bandit.Round) {
			if len(p) == 6 {
				r.Open[3] = false
			}
		}}
	}},
	{"draws from the global generator", []string{"purity", "rerun"}, func() bandit.Policy {
		return &broken{Policy: bandit.Random{}, probs: func(p []float64, r bandit.Round) { favor(p, r, rand.IntN(len(p))) }}
	}},
	{"sums over a map, whose order changes", []string{"purity", "rerun"}, func() bandit.Policy {
		seen := map[int]float64{}
		return &broken{Policy: bandit.Random{}, update: func(pull bandit.Pull, x float64) { seen[pull.ID] = x / 3 },
			probs: func(p []float64, r bandit.Round) {
				var sum float64
				for _, x := range seen {
					sum += x
				}
				favor(p, r, int(math.Float64bits(sum)%uint64(len(p))))
			}}
	}},
	{"expects outcomes in the order of the draws", []string{"late outcomes"}, func() bandit.Policy {
		next := 0
		return &broken{Policy: bandit.Random{}, update: func(pull bandit.Pull, _ float64) {
			if pull.ID != next {
				panic("out of order")
			}
			next++
		}}
	}},
	{"divides by the arms without a pending pull", []string{"late outcomes"}, func() bandit.Policy {
		return &broken{Policy: bandit.Random{}, probs: func(p []float64, r bandit.Round) {
			idle := 0
			for arm, n := range r.Pending {
				if r.Open[arm] && n == 0 {
					idle++
				}
			}
			for arm, n := range r.Pending {
				if r.Open[arm] {
					p[arm] = float64(max(1-n, 0)) / float64(idle)
				}
			}
		}}
	}},
	{"an arm without outcomes is 0/0 after the first draw", []string{"late outcomes"}, func() bandit.Policy {
		n := 0
		return &broken{Policy: bandit.Random{}, update: func(bandit.Pull, float64) { n++ },
			probs: func(p []float64, r bandit.Round) {
				if r.T > 0 && n == 0 && slices.Max(r.Pending) > 0 {
					p[0] = math.NaN()
				}
			}}
	}},
	{"knows the number of arms from Probs alone", []string{"adopted pulls"}, func() bandit.Policy {
		arms, last := 0, 0
		return &broken{Policy: bandit.Random{}, update: func(pull bandit.Pull, _ float64) { last = pull.Arm - arms },
			probs: func(p []float64, r bandit.Round) {
				arms = len(p)
				favor(p, r, last+arms)
			}}
	}},
	{"changes the calls that it is told", []string{"sized pulls"}, func() bandit.Policy {
		return &broken{Policy: bandit.Random{}, probs: func(_ []float64, r bandit.Round) {
			for arm := range r.Calls {
				r.Calls[arm] = max(r.Calls[arm], 1)
			}
		}}
	}},
	{"divides by calls that an arm does not say", []string{"sized pulls"}, func() bandit.Policy {
		return &broken{Policy: bandit.Random{}, probs: func(p []float64, r bandit.Round) {
			if r.Calls != nil && len(p) > 1 {
				p[0], p[1] = p[0]+p[1]-p[1]/float64(r.Calls[1])*float64(r.Calls[1]), p[1]/float64(r.Calls[1])*float64(r.Calls[1])
			}
		}}
	}},
	{"takes calls for granted once it was told of them", []string{"sized pulls"}, func() bandit.Policy {
		told := false
		return &broken{Policy: bandit.Random{}, update: func(pull bandit.Pull, _ float64) { told = told || pull.Calls > 0 },
			probs: func(p []float64, r bandit.Round) {
				if told {
					_ = r.Calls[len(p)-1]
				}
			}}
	}},
	{"shares by cost, where there is one", []string{"costs"}, func() bandit.Policy {
		return &broken{Policy: bandit.Random{}, probs: func(p []float64, r bandit.Round) {
			if r.Costs != nil {
				clear(p)
				p[slices.Index(r.Open, true)] = 1
			}
		}}
	}},
	{"makes room for its arms in Probs", []string{"adopted pulls"}, func() bandit.Policy { return &linear{} }},
	{"shares its memory with every other", []string{"rerun"}, sharing()},
	{"ln K = 0 with one arm", []string{"one arm", "extreme rewards"}, func() bandit.Policy {
		return &broken{Policy: bandit.Random{}, probs: func(p []float64, r bandit.Round) {
			p[0] = p[0] * math.Log(float64(len(p))) / math.Log(float64(len(p)))
		}}
	}},
	{"room for a hundred arms", []string{"many arms"}, func() bandit.Policy {
		var n [100]int
		return &broken{Policy: bandit.Random{}, update: func(pull bandit.Pull, _ float64) { n[pull.Arm]++ }}
	}},
	{"squares of rewards overflow", []string{"extreme rewards"}, func() bandit.Policy {
		var sum, squares float64
		return &broken{Policy: bandit.Random{}, update: func(_ bandit.Pull, x float64) { sum += x; squares += x * x },
			probs: func(p []float64, r bandit.Round) {
				if variance := squares - sum*sum; math.IsNaN(variance) {
					p[0] = variance
				}
			}}
	}},
	{"divides by the sum of the rewards", []string{"extreme rewards"}, func() bandit.Policy {
		sum, n := 0.0, 0
		return &broken{Policy: bandit.Random{}, update: func(_ bandit.Pull, x float64) { sum += x; n++ },
			probs: func(p []float64, r bandit.Round) {
				if n == 5 && r.Open[0] {
					p[0] *= sum / sum
				}
			}}
	}},
	{"a NaN stays in the mean", []string{"rewards that are not finite"}, func() bandit.Policy {
		sum := 0.0
		return &broken{Policy: bandit.Random{}, update: func(_ bandit.Pull, x float64) { sum += x },
			probs: func(p []float64, r bandit.Round) {
				if math.IsNaN(sum) {
					favor(p, r, 0)
				}
			}}
	}},
	{"an infinite reward is clipped and counts", []string{"rewards that are not finite"}, func() bandit.Policy {
		clipped := &bandit.Softmax{}
		return &broken{Policy: clipped, update: func(pull bandit.Pull, x float64) {
			if math.IsInf(x, 0) {
				clipped.Update(pull, min(max(x, 0), 1))
			}
		}}
	}},
	{"weights in the linear domain overflow", []string{"many rounds"}, func() bandit.Policy { return &linear{} }},
}

// sharing returns the same policy each time.
func sharing() func() bandit.Policy {
	p := &bandit.UCB1{}
	return func() bandit.Policy { return p }
}

// linear is EXP3 as it is often written.
type linear struct{ w []float64 }

func (l *linear) Probs(p []float64, r bandit.Round) {
	for len(l.w) < len(p) {
		l.w = append(l.w, 1)
	}
	sum, open := 0.0, 0.0
	for arm, ok := range r.Open {
		if ok {
			sum += l.w[arm]
			open++
		}
	}
	for arm, ok := range r.Open {
		if ok {
			p[arm] = 0.9*l.w[arm]/sum + 0.1/open
		}
	}
}

func (l *linear) Update(pull bandit.Pull, reward float64) {
	l.w[pull.Arm] *= math.Exp(0.07 * min(max(reward, 0), 1) / pull.Prob)
}

func (l *linear) String() string { return "broken" }

func TestRunCatches(t *testing.T) {
	for _, tt := range brokenPolicies {
		var r report
		bandittest.Run(&r, tt.fresh)
		got := r.failed()
		if len(got) == 0 {
			t.Errorf("%s: no check failed, want %q", tt.reason, tt.want)
			continue
		}
		for _, name := range tt.want {
			if !slices.Contains(got, name) {
				t.Errorf("%s: %q failed, want %q among them:\n%s", tt.reason, got, name, strings.Join(r.failures, "\n"))
			}
		}
		t.Logf("%s: %q", tt.reason, got)
	}
}
