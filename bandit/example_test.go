package bandit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/evoalloc/evoalloc/bandit"
)

// coins pays 1 with chances that the policy does not know.
func coins(p bandit.Policy, rounds int, chances ...float64) []int {
	player, rng := bandit.NewPlayer(p, len(chances), 1), rand.New(rand.NewPCG(1, 1))
	open, pulls := make([]bool, len(chances)), make([]int, len(chances))
	for arm := range open {
		open[arm] = true
	}
	for range rounds {
		pull, err := player.Draw(open)
		if err != nil {
			panic(err)
		}
		var reward float64
		if rng.Float64() < chances[pull.Arm] {
			reward = 1
		}
		pulls[pull.Arm]++
		if err := player.Report(pull.ID, reward); err != nil {
			panic(err)
		}
	}
	return pulls
}

func Example() {
	fmt.Println(coins(&bandit.UCB1{}, 1000, 0.2, 0.8, 0.5))
	fmt.Println(coins(&bandit.PaperEXP3P{}, 1000, 0.2, 0.8, 0.5))
	fmt.Println(coins(&bandit.GaussianThompson{Sigma: 0.5}, 1000, 0.2, 0.8, 0.5))
	fmt.Println(coins(bandit.Random{}, 1000, 0.2, 0.8, 0.5))
	// Output:
	// [25 887 88]
	// [46 905 49]
	// [4 986 10]
	// [341 309 350]
}

// A Player keeps several pulls pending. An arm that is busy can be closed meanwhile.
func ExamplePlayer() {
	player := bandit.NewPlayer(&bandit.UCB1{}, 2, 1)
	first, _ := player.Draw([]bool{true, true})
	second, _ := player.Draw([]bool{false, true})
	_, err := player.Draw([]bool{false, false})
	fmt.Println(first.Arm, second.Arm, err)

	player.Report(second.ID, 0.5) // in any order
	player.Cancel(first.ID)       // nothing came of it
	fmt.Println(player.InFlight(), player.Report(first.ID, 1))
	// Output:
	// 0 1 bandit: no arm is open
	// 0 bandit: report of pull 0, which is not pending
}

// Searches that end close their arms; when all have ended there is nothing left to draw.
func ExampleErrNoArm() {
	left := []int{1, 3, 2} // pulls until each search ends
	player := bandit.NewPlayer(bandit.Random{}, len(left), 1)
	open := []bool{true, true, true}
	for drawn := 0; ; drawn++ {
		pull, err := player.Draw(open)
		if errors.Is(err, bandit.ErrNoArm) {
			fmt.Println("all have ended, after", drawn, "pulls")
			return
		}
		if err != nil {
			panic(err) // the policy's mistake
		}
		left[pull.Arm]--
		open[pull.Arm] = left[pull.Arm] > 0
		player.Report(pull.ID, 1)
	}
	// Output: all have ended, after 6 pulls
}

// Each request has a number of its own. It draws the same arm in whatever order the requests come.
func ExamplePlayer_DrawAt() {
	open := []bool{true, true, true, true}
	for _, order := range [][]uint64{{70, 71, 72}, {72, 70, 71}} {
		player := bandit.NewPlayer(bandit.Random{}, len(open), 1)
		drawn := make(map[uint64]int)
		for _, request := range order {
			pull, err := player.DrawAt(open, request, nil)
			if err != nil {
				panic(err)
			}
			drawn[request] = pull.Arm
		}
		fmt.Println(drawn)
	}
	// Output:
	// map[70:2 71:1 72:0]
	// map[70:2 71:1 72:0]
}

// Two searches with steps of one and of eight calls. What counts is the gain by call, so the second has to gain eight
// times as much.
func ExamplePlayer_DrawSized() {
	player := bandit.NewPlayer(&bandit.ExpectedImprovement{T: 60}, 2, 1)
	scores, spent := []float64{0.2, 0.2}, []int{0, 0}
	for left := 60; left > 0; {
		pull, err := player.DrawSized([]bool{true, true}, []int{1, min(8, left)}, nil)
		if err != nil {
			panic(err)
		}
		left -= pull.Calls
		spent[pull.Arm] += pull.Calls
		scores[pull.Arm] += []float64{0.01, 0.02}[pull.Arm] // by pull
		player.Report(pull.ID, scores[pull.Arm])
	}
	fmt.Println("calls", spent)
	// Output:
	// calls [52 8]
}

// Greedy pulls the arm with the best mean so far.
type Greedy struct{ seen bandit.Tally }

func (g *Greedy) Probs(p []float64, r bandit.Round)  { bandit.OneHot(p, r.Open, g.seen.Mean) }
func (g *Greedy) Update(pull bandit.Pull, x float64) { g.seen.Add(pull.Arm, x) }
func (g *Greedy) String() string                     { return "Greedy()" }

// A policy of one's own: with a floor under it, this one is epsilon-greedy.
func ExamplePolicy() {
	p := bandit.WithFloor(&Greedy{}, 0.1)
	fmt.Println(p, coins(p, 1000, 0.2, 0.8, 0.5))
	// Output: WithFloor(Greedy(), 0.1) [40 858 102]
}

func ExampleRound() {
	p := make([]float64, 3)
	bandit.Random{}.Probs(p, bandit.Round{Open: []bool{true, false, true}, Pending: []int{0, 1, 0}})
	fmt.Println(p)
	// Output: [0.5 0 0.5]
}

// From a log of pulls with their propensities one can estimate what other choices would have brought. Here that
// is always pulling arm 1, by inverse propensity.
func ExamplePull() {
	log := []struct {
		bandit.Pull
		reward float64
	}{
		{bandit.Pull{ID: 0, Arm: 0, Prob: 0.75}, 0.1},
		{bandit.Pull{ID: 1, Arm: 1, Prob: 0.25}, 0.2},
		{bandit.Pull{ID: 2, Arm: 1, Prob: 0.5}, 0.4},
		{bandit.Pull{ID: 3, Arm: 0, Prob: 0.5}, 0.3},
	}
	var sum float64
	for _, l := range log {
		if l.Arm == 1 {
			sum += l.reward / l.Prob
		}
	}
	fmt.Printf("%.2f\n", sum/float64(len(log)))
	// Output: 0.40
}

func ExampleUCB1() {
	p := &bandit.UCB1{C: 0.5}
	fmt.Println(p)
	fmt.Println(coins(p, 12, 0.2, 0.8))
	// Output:
	// UCB1(c=0.5)
	// [4 8]
}

// A search that has stopped is left for others, once it had 32 calls.
func ExampleChallenge() {
	p := &bandit.Challenge{T: 192}
	fmt.Println(p)
	pulls := make([]int, 3)
	player := bandit.NewPlayer(p, 3, 1)
	for range 192 {
		pull, err := player.Draw([]bool{true, true, true})
		if err != nil {
			fmt.Println(err)
			return
		}
		pulls[pull.Arm]++
		rises := []float64{2, 40, 100}[pull.Arm] // until which it rises in proportion to its pulls
		score := min(float64(pulls[pull.Arm]), rises) / 100
		if err := player.Report(pull.ID, score); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(pulls)
	// Output:
	// Challenge(T=192, ε=0.01)
	// [32 100 60]
}

func ExamplePaperEXP3P() {
	p := bandit.Normalize(&bandit.PaperEXP3P{}, 0, 2)
	fmt.Println(p)
	probs := make([]float64, 2)
	round := bandit.Round{Open: []bool{true, true}, Pending: []int{0, 0}}
	p.Probs(probs, round)
	p.Update(bandit.Pull{Arm: 1, Prob: probs[1]}, 1.5)
	p.Probs(probs, round)
	fmt.Printf("%.4f\n", probs)
	// Output:
	// Normalize(PaperEXP3P(eta=0.07, gamma=0.1, min=0, max=1), 0, 2)
	// [0.4775 0.5225]
}

func ExampleGaussianThompson() {
	p := &bandit.GaussianThompson{}
	fmt.Println(p)
	for _, reward := range []float64{0.5, 0.6, 0.7} {
		p.Update(bandit.Pull{Arm: 0}, reward)
	}
	probs := make([]float64, 2)
	p.Probs(probs, bandit.Round{Open: []bool{true, true}, Pending: []int{0, 0}})
	fmt.Printf("%.6f\n", probs)
	// Output:
	// GaussianThompson(sigma=0.1, mean=0.5, strength=1)
	// [0.748833 0.251167]
}

func ExampleRandom() {
	fmt.Println(bandit.Random{}, coins(bandit.Random{}, 1000, 0, 0, 1))
	// Output: Random() [341 309 350]
}

func ExampleOneHot() {
	p := make([]float64, 3)
	index := []float64{0.5, 0.9, 0.7}
	bandit.OneHot(p, []bool{true, false, true}, func(arm int) float64 { return index[arm] })
	fmt.Println(p)
	// Output: [0 0 1]
}

func ExampleTally() {
	var tally bandit.Tally
	tally.Add(0, 1)
	tally.Add(2, 0.5)
	tally.Add(2, 0.25)
	fmt.Println(tally.Pulls(2), tally.Mean(2), tally.Total())
	tally.Discount(0.5)
	fmt.Println(tally.Pulls(2), tally.Mean(2), tally.Total())
	tally.Add(1, 0) // weighs as much as two of those before
	fmt.Printf("%.2f\n", tally.Overall())
	// Output:
	// 2 0.375 3
	// 1 0.375 1.5
	// 0.35
}

// A Forgetter says how it forgets, for Discounted to use.
func ExampleForgetter() {
	var p bandit.Forgetter = &bandit.GaussianThompson{}
	chance := func() float64 {
		probs := make([]float64, 2)
		p.Probs(probs, bandit.Round{Open: []bool{true, true}, Pending: []int{0, 0}})
		return probs[0]
	}
	p.Update(bandit.Pull{Arm: 0}, 0.7)
	fmt.Printf("%.3f\n", chance())
	p.Forget(0.1)
	fmt.Printf("%.3f\n", chance())
	// Output:
	// 0.793
	// 0.552
}

func ExampleRescale() {
	p := bandit.Rescale(&bandit.GaussianThompson{})
	p.Update(bandit.Pull{Arm: 0}, -3000) // told as 0
	p.Update(bandit.Pull{Arm: 1}, -1000) // as 1
	p.Update(bandit.Pull{Arm: 0}, -2000) // as 0.5
	probs := make([]float64, 2)
	p.Probs(probs, bandit.Round{Open: []bool{true, true}, Pending: []int{0, 0}})
	fmt.Printf("%v\n%.4f\n", p, probs)
	// Output:
	// Rescale(GaussianThompson(sigma=0.1, mean=0.5, strength=1))
	// [0.0000 1.0000]
}

func ExampleAnyScale() {
	fmt.Println(bandit.AnyScale(&bandit.UCB1{}), bandit.AnyScale(&bandit.Challenge{}))
	fmt.Println(bandit.Rescale(&bandit.UCB1{}), bandit.Rescale(&bandit.Challenge{}))
	// Output:
	// false true
	// Rescale(UCB1(c=1.4142135623730951)) Challenge(T=0, ε=0.01)
}

func ExampleNormalize() {
	// Scores of this task go from -10 to 30. What the policy hears of 20 is 0.75, and of 50 it is 1.
	p := bandit.Normalize(&bandit.GaussianThompson{}, -10, 30)
	p.Update(bandit.Pull{Arm: 0}, 20)
	p.Update(bandit.Pull{Arm: 1}, 50)
	probs := make([]float64, 3)
	p.Probs(probs, bandit.Round{Open: []bool{true, true, true}, Pending: make([]int, 3)})
	fmt.Println(p)
	fmt.Printf("%.3f\n", probs)
	// Output:
	// Normalize(GaussianThompson(sigma=0.1, mean=0.5, strength=1), -10, 30)
	// [0.102 0.882 0.016]
}

func ExampleWithFloor() {
	p := bandit.WithFloor(&bandit.UCB1{C: 1}, 0.25)
	probs := make([]float64, 5)
	p.Probs(probs, bandit.Round{Open: []bool{true, true, true, true, true}, Pending: make([]int, 5)})
	fmt.Println(p)
	fmt.Printf("%.2f\n", probs)
	// Output:
	// WithFloor(UCB1(c=1), 0.25)
	// [0.80 0.05 0.05 0.05 0.05]
}

// Two arms swap half-way. A policy that forgets notices sooner.
func ExampleDiscounted() {
	for _, p := range []bandit.Policy{&bandit.UCB1{C: 0.5}, bandit.Discounted(&bandit.UCB1{C: 0.5}, 0.99)} {
		player := bandit.NewPlayer(p, 2, 1)
		pulls := 0 // of arm 1 once it is the better one
		for t := range 1000 {
			pull, err := player.Draw([]bool{true, true})
			if err != nil {
				panic(err)
			}
			reward := 0.5
			if swapped := t >= 500; pull.Arm == 1 && swapped {
				reward, pulls = 0.8, pulls+1
			} else if pull.Arm == 1 {
				reward = 0.2
			}
			player.Report(pull.ID, reward)
		}
		fmt.Println(p, pulls, "of 500")
	}
	// Output:
	// UCB1(c=0.5) 382 of 500
	// Discounted(UCB1(c=0.5), 0.99) 479 of 500
}

func ExampleMix() {
	p := bandit.Mix([]float64{3, 1}, &bandit.UCB1{C: 1}, bandit.Random{})
	probs := make([]float64, 2)
	p.Probs(probs, bandit.Round{Open: []bool{true, true}, Pending: []int{0, 0}})
	fmt.Println(p, probs)
	// Output: Mix(0.75*UCB1(c=1) + 0.25*Random()) [0.875 0.125]
}
