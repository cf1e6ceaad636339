package tasks

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

const tspCities = 40

// newTSP returns the search for a short round tour of cities that lie at random in the unit square. The score is
// 0.7124·√n over the length: what n cities take on average as n grows (J. Beardwood, J. Halton and J. Hammersley,
// 1959), over what the tour takes. The best tour of so few cities has a little less than 1.
func newTSP() (task.Task, llm.LLM, error) {
	var at [tspCities][2]float64
	r := rand.New(rand.NewPCG(tspCities, 0))
	start := make([]int, tspCities)
	system := "Find a short round tour of 40 cities in the plane. Answer with a JSON list of their numbers in one " +
		"block.\n" +
		"The score is 0.7124·√40 over the length of the tour. The cities are at\n"
	for i := range at {
		at[i] = [2]float64{r.Float64(), r.Float64()}
		start[i] = i
		system += fmt.Sprintf("%d: %.3f %.3f\n", i, at[i][0], at[i][1])
	}
	score := func(tour []int) float64 {
		length := 0.0
		for i, city := range tour {
			next := at[tour[(i+1)%len(tour)]]
			length += math.Hypot(at[city][0]-next[0], at[city][1]-next[1])
		}
		return 0.7124 * math.Sqrt(tspCities) / length
	}
	t, err := task.New(task.Spec{Name: "tsp", Language: "json", System: system, Initial: list(start),
		Evaluator: scored(readTour, score)})
	return t, standIn{"json", changeTour}, err
}

// readTour reads a list that has every city once.
func readTour(program string) ([]int, error) {
	tour, err := listOf[int](program, tspCities)
	if err != nil {
		return nil, err
	}
	for i, city := range slices.Sorted(slices.Values(tour)) {
		if city != i {
			return nil, errors.New("need each of the numbers 0 to 39 once")
		}
	}
	return tour, nil
}

// changeTour reverses a stretch of the tour, puts a city elsewhere or swaps two, once or several times.
func changeTour(r *rand.Rand, program string) (string, error) {
	tour, err := readTour(program)
	if err != nil {
		return "", err
	}
	for range several(r, tspCities) {
		i, j := r.IntN(tspCities), r.IntN(tspCities)
		switch r.IntN(4) {
		case 0:
			tour[i], tour[j] = tour[j], tour[i]
		case 1:
			city := tour[i]
			tour = slices.Insert(slices.Delete(tour, i, i+1), j, city)
		default:
			slices.Reverse(tour[min(i, j) : max(i, j)+1])
		}
	}
	return list(tour), nil
}
