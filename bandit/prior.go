package bandit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
)

// A Prior is what earlier runs of a task tell [ExpectedImprovement] of searches on it. It does not change,
// and any number of policies may share one, at once.
//
// It is the trajectories as they were logged, without a model of them. For an arm with n pulls, each
// trajectory that goes further is a possible future. It is the more likely the more alike the two have been.
// With z as in [ExpectedImprovement], z_k the arm's z after k pulls, z_k,j that of trajectory j, and s_k the
// standard deviation of z_k over the trajectories, trajectory j has the weight
//
//	w_j = 0.1 + exp(−½·Σ over k of ((z_k − z_k,j)/(s_k + 0.02))²),  k = n, ⌊n/2⌋ and ⌊n/4⌋, without 0
//
// and the improvement to expect of h more pulls of the arm is
//
//	E'(h) = (Σ w_j·max(0, z_n+h,j − z_n,j − (z* − z)) + 4·E(h)) / (Σ w_j + 4)
//
// with the sums over the trajectories of at least n + h pulls. E(h) is what [ExpectedImprovement] expects without a
// prior. The index is the maximum over h of E'(h)/h. Where no trajectory reaches, the formula
// decides alone. An arm unlike any of them gets their average, which is what the 0.1 is for.
//
// Pulls are those of the trajectories here. Where the policy's own are of another size, an arm of n calls has made
// ⌊n/e⌋ of them, with e the calls of each ([Prior.Every]), and h calls more are ⌈h/e⌉.
//
// So an arm that has been tried for long and is behind is given up if none of the searches like it has ever
// caught up, and kept if they did. Late bloomers, stagnation and ceilings, of which the formula knows
// nothing, are in the data.
type Prior struct {
	runs      [][]float64
	low, best float64
	pulls     int
	digest    uint32
	calls     int // of a pull
}

// FitPrior returns the prior of logged searches. Each is given by its best score after 0, 1, 2, ... pulls, as
// replay.Curves returns them. They must be of the task that the prior is for, with as many children to a
// pull, and all on one scale of scores. Forty are enough and ten are too few. Those of a bandit's run serve
// too, although some of them end early. Scores that fall count as the best until then.
//
// It returns an error if there are no pulls, or if a score is not finite.
func FitPrior(trajectories [][]float64) (*Prior, error) {
	p := &Prior{low: math.Inf(1), best: math.Inf(-1), calls: 1}
	digest := fnv.New32a()
	for i, t := range trajectories {
		if len(t) < 2 {
			continue // nothing can be learned from a search without a pull
		}
		run := make([]float64, len(t))
		for n, score := range t {
			if !finite(score) {
				return nil, fmt.Errorf("bandit: FitPrior: score %v of trajectory %d after %d pulls is not finite", score, i, n)
			}
			run[n] = score
			if n > 0 {
				run[n] = max(score, run[n-1])
			}
			digest.Write(binary.BigEndian.AppendUint64(nil, math.Float64bits(run[n])))
		}
		p.runs = append(p.runs, run)
		p.pulls += len(run) - 1
		p.low, p.best = min(p.low, run[0]), max(p.best, run[len(run)-1])
	}
	if len(p.runs) == 0 {
		return nil, errors.New("bandit: FitPrior: no trajectory has a pull: need the best score after 0, 1, 2, ... pulls")
	}
	p.digest = digest.Sum32()
	return p, nil
}

// Every returns the prior with the given number of model calls to a pull of its searches, which is 1 otherwise. A
// policy that is told the calls of its pulls needs to know: FitPrior of generations of 64 children is Every(64), and that of replay.Curves is
// Every(replay.Size(arms)). It panics if calls is below 1.
func (p *Prior) Every(calls int) *Prior {
	if calls < 1 {
		panicf("Prior.Every(%d): need at least 1 call to a pull", calls)
	}
	every := *p
	every.calls = calls
	return &every
}

// String tells how much the prior rests on, with a digest of the scores.
func (p *Prior) String() string {
	size := ""
	if p.calls > 1 {
		size = fmt.Sprintf(" of %d calls", p.calls)
	}
	return fmt.Sprintf("Prior(%d searches, %d pulls%s, %08x)", len(p.runs), p.pulls, size, p.digest)
}

const (
	priorFloor   = 0.1  // the least weight of a trajectory
	priorBlur    = 0.02 // added to s_k
	priorFormula = 4.0  // the weight of E(h)
)

// futures is a prior on the scale of one policy.
type futures struct {
	prior   *Prior
	scale   scale
	z       [][]float64 // by trajectory, after 0, 1, ... pulls
	spread  []float64   // s_k
	weights []float64   // scratch: w_j for one arm
}

// on puts the prior on a scale. Most draws find it on theirs already.
func (f *futures) on(p *Prior, s scale) {
	if f.prior == p && f.scale == s {
		return
	}
	if f.prior != p {
		*f = futures{z: make([][]float64, len(p.runs)), weights: make([]float64, len(p.runs))}
		longest := 0
		for j, run := range p.runs {
			f.z[j] = make([]float64, len(run))
			longest = max(longest, len(run))
		}
		f.spread = make([]float64, longest)
	}
	f.prior, f.scale = p, s
	for j, run := range p.runs {
		for n, score := range run {
			if n > 0 && score == run[n-1] { // as most are, and a logarithm is what this costs
				f.z[j][n] = f.z[j][n-1]
				continue
			}
			f.z[j][n] = s.z(score)
		}
	}
	for k := range f.spread {
		f.spread[k] = f.deviation(k)
	}
}

// deviation returns the standard deviation of z after k pulls, over the trajectories that go so far.
func (f *futures) deviation(k int) float64 {
	var n, mean, squares float64
	for _, z := range f.z {
		if k < len(z) {
			n++
			d := z[k] - mean
			mean += d / n
			squares += d * (z[k] - mean)
		}
	}
	return math.Sqrt(squares / n)
}

// liken weighs the trajectories by how alike they have been to an arm. It takes the arm's number of pulls n,
// and its z after n, ⌊n/2⌋ and ⌊n/4⌋ pulls.
func (f *futures) liken(n int, past [3]float64) {
	for j, z := range f.z {
		f.weights[j] = 0
		if n >= len(z) {
			continue
		}
		var distance float64
		for i, k := range [3]int{n, n / 2, n / 4} {
			if k > 0 {
				d := (past[i] - z[k]) / (f.spread[k] + priorBlur)
				distance += d * d
			}
		}
		f.weights[j] = priorFloor + math.Exp(-distance/2)
	}
}

// expect returns the improvement to expect of h pulls after n, of an arm that is behind by gap. formula is
// what to expect without a prior.
func (f *futures) expect(n, h int, gap, formula float64) float64 {
	sum, weight := priorFormula*formula, priorFormula
	for j, z := range f.z {
		if n+h < len(z) {
			weight += f.weights[j]
			sum += f.weights[j] * max(0, z[n+h]-z[n]-gap)
		}
	}
	return sum / weight
}
