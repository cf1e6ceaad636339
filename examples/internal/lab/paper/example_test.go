package paper_test

import (
	"fmt"
	"math/big"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/examples/internal/lab/paper"
)

// What python3.11 prints for
//
//	r = random.Random(40); r.random(), r.gauss(0.5, 0.1), r.randrange(10)
func ExampleRandom() {
	r := paper.NewRandom(40)
	fmt.Println(r.Float64(), r.Normal(0.5, 0.1), r.IntN(10))
	// Output: 0.4586067093870614 0.5183114035313294 4
}

// What python3.11 prints for
//
//	r = random.Random(2**70); r.getrandbits(32), r.getrandbits(40), r.random()
//
// Seeds of this size are the digests that Python code likes to seed with.
func ExampleNewRandomBig() {
	r := paper.NewRandomBig(new(big.Int).Lsh(big.NewInt(1), 70))
	fmt.Println(r.Uint32(), r.Bits(40), r.Float64())
	// Output: 999817988 459347154626 0.4896287777098016
}

// The paper's policies over the same two arms, of which the second is better.
func ExampleAlgos() {
	for _, algo := range paper.Algos() {
		a, err := paper.New(paper.Config{Algo: algo, Arms: 2, Seed: 1})
		if err != nil {
			fmt.Println(err)
			return
		}
		pulls := make([]int, 2)
		for range 200 {
			c, err := a.Select()
			if err != nil {
				fmt.Println(err)
				return
			}
			pulls[c.Arm]++
			a.Update(c.Arm, []float64{0.2, 0.9}[c.Arm])
		}
		fmt.Println(algo, pulls)
	}
	// Output:
	// ucb [13 187]
	// exp3p [30 170]
	// thompson [0 200]
	// random [99 101]
}

// Sixteen rounds of the paper's UCB over two arms with at most eight rounds each, where arm 1 is better:
// once it is exhausted, rounds fall to arm 0 whatever the policy chooses.
func ExampleAllocator() {
	a, err := paper.New(paper.Config{Algo: paper.UCB, Arms: 2, Cap: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	sep := ""
	for {
		c, err := a.Select()
		if err != nil {
			fmt.Printf("\n%v\n", err)
			return
		}
		fmt.Printf("%s%d(%d)", sep, c.Arm, c.Raw)
		sep = " "
		a.Update(c.Arm, []float64{0.2, 0.9}[c.Arm])
	}
	// Output:
	// 0(0) 1(1) 1(1) 1(1) 0(0) 1(1) 1(1) 1(1) 1(1) 1(1) 0(0) 0(1) 0(1) 0(1) 0(1) 0(1)
	// bandit: no arm is open
}

// The paper's Thompson sampling where any policy goes.
func ExamplePolicy() {
	p, err := paper.NewPolicy(paper.Config{Algo: paper.Thompson, Arms: 3, Seed: 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	player := bandit.NewPlayer(p, 3, 0)
	for range 10 {
		pull, err := player.Draw([]bool{true, true, true})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(pull.Arm, " ")
		player.Report(pull.ID, []float64{0.4, 0.5, 0.6}[pull.Arm])
	}
	// Output: 1 2 2 2 2 0 2 2 2 2
}
