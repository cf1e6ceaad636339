package tasks

import (
	"math"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

const (
	fitBumps  = 4
	fitPoints = 100
)

// A bump is a·exp(−((x−m)/w)²).
type bump struct{ a, m, w float64 }

func (b bump) at(x float64) float64 {
	z := (x - b.m) / b.w
	return b.a * math.Exp(-z*z)
}

// newFit returns the fit of a sum of four bumps to points on a curve that is one, with a little noise. The score is
// the coefficient of determination: 1 − the sum of squared errors over that of a constant at the mean. The
// start, without bumps, is below 0.
func newFit() (task.Task, llm.LLM, error) {
	const system = `Fit y = Σ a·exp(-((x-m)/w)²) with four terms to 100 points of a hidden curve with x from 0 to 10. Answer with one block
that has a JSON list of twelve numbers, a, m and w of each term. The score is the coefficient of determination.`
	y := measured()
	mean, around := 0.0, 0.0
	for _, v := range y {
		mean += v / fitPoints
	}
	for _, v := range y {
		around += (v - mean) * (v - mean)
	}
	score := func(c []float64) float64 {
		missed := 0.0
		for i, v := range y {
			for b := range fitBumps {
				v -= bump{c[3*b], c[3*b+1], c[3*b+2]}.at(fitX(i))
			}
			missed += v * v
		}
		return 1 - missed/around // not finite if a width is 0 or numbers are huge: then the program is invalid
	}
	start := list([]float64{0, 2, 1, 0, 4, 1, 0, 6, 1, 0, 8, 1})
	t, err := task.New(task.Spec{Name: "fit", Language: "json", System: system, Initial: start,
		Evaluator: scored(readFit, score)})
	return t, standIn{"json", changeFit}, err
}

func fitX(i int) float64 { return 10 * float64(i) / (fitPoints - 1) }

// measured returns the points' y.
func measured() []float64 {
	r := rand.New(rand.NewPCG(fitPoints, 0))
	y := make([]float64, fitPoints)
	for i := range y {
		for _, b := range []bump{{1.5, 1.7, 0.5}, {-0.8, 3.1, 1.2}, {2.1, 5.2, 0.9}, {1.1, 6.6, 0.35}} {
			y[i] += b.at(fitX(i))
		}
		y[i] += 0.03 * r.NormFloat64()
	}
	return y
}

func readFit(program string) ([]float64, error) { return listOf[float64](program, 3*fitBumps) }

// changeFit changes some numbers by normal steps, whose deviation is drawn over three orders of magnitude.
func changeFit(r *rand.Rand, program string) (string, error) {
	c, err := readFit(program)
	if err != nil {
		return "", err
	}
	step := math.Pow(10, -2.5+3*r.Float64())
	for range several(r, len(c)) {
		c[r.IntN(len(c))] += step * r.NormFloat64()
	}
	return list(c), nil
}
