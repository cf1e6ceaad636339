package tasks

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

const (
	nkBits   = 96
	nkOthers = 5
	labsBits = 64
	// labsLeast is the least energy of a sequence of length 64: T. Packebusch and S. Mertens, "Low autocorrelation
	// binary sequences", J. Phys. A 49 (2016).
	labsLeast = 208
)

// newNK returns the maximum of an NK landscape (S. Kauffman and S. Levin, 1987): the mean over bits i of a number in
// [0, 1) that was drawn for each value of bit i and of five others, which were drawn too. Changing one bit changes
// six terms, so there are many local maxima, near 0.75.
func newNK() (task.Task, llm.LLM, error) {
	const system = `Find a string of 96 characters 0 or 1 with a high score on a fixed NK landscape: the score is the mean
over the bits of a contribution that depends on the bit and on five others. Answer with the whole string in one block.`
	return newBits("nk", system, strings.Repeat("0", nkBits), newLandscape().score)
}

// A landscape says which bits each bit interacts with, and what each bit contributes by their values.
type landscape struct {
	others [nkBits][nkOthers]int
	values [nkBits][1 << (nkOthers + 1)]float64
}

func newLandscape() *landscape {
	var l landscape
	r := rand.New(rand.NewPCG(96, nkOthers)) // one landscape for all: a bank holds searches of one task
	for i := range nkBits {
		others := l.others[i][:0]
		for _, j := range r.Perm(nkBits) {
			if j != i && len(others) < nkOthers {
				others = append(others, j)
			}
		}
		for v := range l.values[i] {
			l.values[i][v] = r.Float64()
		}
	}
	return &l
}

func (l *landscape) score(bits string) float64 {
	var sum float64
	for i := range nkBits {
		v := int(bits[i] - '0')
		for _, j := range l.others[i] {
			v = v<<1 | int(bits[j]-'0')
		}
		sum += l.values[i][v]
	}
	return sum / nkBits
}

// newLABS returns the search for a sequence s of ±1 with low autocorrelation: its energy is the sum over k ≥ 1 of
// (Σ s_i·s_{i+k})², and its score the least energy there is over its own, at most 1. The best sequences stand
// alone among bad ones.
func newLABS() (task.Task, llm.LLM, error) {
	const system = `Find a string of 64 characters 0 or 1 that, read as a sequence of -1 and +1, has low autocorrelation: the score
is 208 over the sum of the squares of all its aperiodic autocorrelations. Answer with the whole string in one block.`
	r := rand.New(rand.NewPCG(labsBits, 0))
	start := make([]byte, labsBits)
	for i := range start {
		start[i] = byte('0' + r.IntN(2))
	}
	return newBits("labs", system, string(start), autocorrelation)
}

func autocorrelation(bits string) float64 {
	energy := 0
	for k := 1; k < len(bits); k++ {
		c := 0
		for i := range len(bits) - k {
			c += 1 - 2*int((bits[i]^bits[i+k])&1)
		}
		energy += c * c
	}
	return labsLeast / float64(energy) // the last term is 1, so it is not 0
}

// newBits returns a task whose programs are strings of as many bits as start has.
func newBits(name, system, start string, score func(bits string) float64) (task.Task, llm.LLM, error) {
	read := func(program string) (string, error) {
		bits := strings.TrimSpace(program)
		if len(bits) != len(start) || strings.Trim(bits, "01") != "" {
			return "", fmt.Errorf("need a string of %d characters 0 or 1", len(start))
		}
		return bits, nil
	}
	t, err := task.New(task.Spec{Name: name, System: system, Initial: start, Evaluator: scored(read, score)})
	return t, standIn{change: changeBits}, err
}

// changeBits flips some bits, or now and then a whole stretch of them.
func changeBits(r *rand.Rand, bits string) (string, error) {
	b := []byte(strings.TrimSpace(bits))
	if r.IntN(10) == 0 {
		from := r.IntN(len(b))
		for i := range 1 + r.IntN(len(b)/4) {
			b[(from+i)%len(b)] ^= 1
		}
		return string(b), nil
	}
	for range several(r, len(b)) {
		b[r.IntN(len(b))] ^= 1
	}
	return string(b), nil
}
