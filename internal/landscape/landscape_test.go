package landscape

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
)

// Every family is what its seed says, begins with a valid program that is far from solved, and has true scores in [0, 1].
func TestFamilies(t *testing.T) {
	ctx := context.Background()
	if n := len(Families()); n < 10 {
		t.Errorf("%d families, want at least 10", n)
	}
	for _, f := range Families() {
		for seed := range uint64(3) {
			p, again, other := problem(t, f.Name, seed), problem(t, f.Name, seed), problem(t, f.Name, seed+100)
			initial := p.Task.Initial()
			r, err := p.Task.Evaluate(ctx, initial)
			if err != nil || !r.Valid {
				t.Fatalf("%s, seed %d: the initial program: %+v, %v", f.Name, seed, r, err)
			}
			same, err := again.Task.Evaluate(ctx, initial)
			if err != nil || again.Task.Initial() != initial || same.Score != r.Score || again.True(initial) != p.True(initial) {
				t.Errorf("%s, seed %d: made twice it is not the same", f.Name, seed)
			}
			if other.Task.Initial() == initial && other.True(initial) == p.True(initial) {
				t.Errorf("%s: seeds %d and %d are alike", f.Name, seed, seed+100)
			}
			if v := p.True(initial); v < 0 || v > 0.8 {
				t.Errorf("%s, seed %d: the initial program's true score is %v", f.Name, seed, v)
			}
			bad, err := p.Task.Evaluate(ctx, initial+"\nmore")
			if err != nil || bad.Valid || bad.Reason == "" || p.True(initial+"\nmore") != 0 {
				t.Errorf("%s: a program of another form: %+v, %v", f.Name, bad, err)
			}
		}
	}
}

// problem returns the problem of a seed in a family.
func problem(t *testing.T, family string, seed uint64) Problem {
	t.Helper()
	all := Families()
	p, err := all[slices.IndexFunc(all, func(f Family) bool { return f.Name == family })].Make(seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// climb returns the program that going up by single words ends with: no change of one word raises its score.
func climb(p Problem, score func(string) float64, words []string) (program string, best float64) {
	program = p.Task.Initial()
	best = score(program)
	for better := true; better; {
		better = false
		lines := strings.Split(program, "\n")
		for i := range lines {
			for j, n := 0, len(strings.Fields(lines[i])); j < n; j++ {
				for _, w := range words {
					list := strings.Fields(lines[i])
					kind, _, found := strings.Cut(list[j], ":")
					if list[j] = w; found {
						list[j] = kind + ":" + w
					}
					was := lines[i]
					lines[i] = strings.Join(list, " ")
					if v := score(strings.Join(lines, "\n")); v > best {
						best, better, program = v, true, strings.Join(lines, "\n")
					} else {
						lines[i] = was
					}
				}
			}
		}
	}
	return program, best
}

var eight = []string{"amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath"}

// What going up by single words reaches says which families are open and which are traps.
func TestFamiliesAreWhatTheySay(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		family   string
		words    int
		from, to float64 // of the true score, in the mean over seeds
	}{
		{"every step is open", "additive", 6, 1, 1},
		{"each line ends in its trap, but for those that begin right", "traps", 2, 0.8, 0.87},
		{"large blocks are out of reach", "hiff", 2, 0.2, 0.6},
		{"cases are in each other's way", "regress", 4, 0.6, 0.95},
		{"without noise every step is open", "noisy", 6, 1, 1},
		{"what is best on the cases is not best", "held-out", 4, 0.5, 0.95},
		{"bases can be made good, and then combined", "layered", 4, 1, 1},
		{"regular or not, every step is open", "notes", 8, 1, 1},
	} {
		sum := 0.0
		const seeds = 8
		for seed := range uint64(seeds) {
			p := problem(t, tt.family, seed)
			score := p.True
			if tt.family == "held-out" {
				score = func(program string) float64 {
					r, _ := p.Task.Evaluate(context.Background(), program)
					return r.Score
				}
			}
			program, _ := climb(p, score, eight[:tt.words])
			sum += p.True(program)
		}
		if v := sum / seeds; v < tt.from-1e-9 || v > tt.to+1e-9 {
			t.Errorf("%s: %s: %.3f, want %v to %v", tt.family, tt.reason, v, tt.from, tt.to)
		}
	}
}

// The optimum of H-IFF, and a program that has the first half as it should be and the other half turned.
func TestHIFF(t *testing.T) {
	p := problem(t, "hiff", 3)
	turn := func(program string) string {
		return strings.NewReplacer("amber", "birch", "birch", "amber").Replace(program)
	}
	best, program := 0.0, ""
	for _, half := range []string{"amber amber amber amber", "birch birch birch birch"} {
		for i := range 16 { // which lines are equal is the seed's secret: find one line after the other
			lines := strings.Split(p.Task.Initial(), "\n")
			lines[i] = half
			program = strings.Join(lines, "\n")
			best = max(best, p.True(program))
		}
	}
	if a, b := p.True(program), p.True(turn(program)); a != b {
		t.Errorf("turned, a program scores %v in place of %v: both forms of a block are right", b, a)
	}
	if best <= 0 || best > 1 {
		t.Errorf("score %v", best)
	}
}

// Noise has the deviation that the family says, and none in the true score.
func TestNoise(t *testing.T) {
	p := problem(t, "noisy", 1)
	program := p.Task.Initial()
	if !p.Noisy {
		t.Error("the problem does not say that it is noisy")
	}
	const n = 4000
	sum, squares := 0.0, 0.0
	for sample := range n {
		r, err := eval.EvaluateSample(context.Background(), p.Task, program, sample)
		if err != nil {
			t.Fatal(err)
		}
		d := r.Score - p.True(program)
		sum, squares = sum+d, squares+d*d
	}
	if mean, sd := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 4*0.05/math.Sqrt(n) || math.Abs(sd-0.05) > 0.003 {
		t.Errorf("noise with mean %v and deviation %v, want 0 and 0.05", mean, sd)
	}
}
