package sim_test

import (
	"context"
	"fmt"
	"os"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/sim"
)

// Two policies over ten of 24 recorded searches, dealt out anew in each run.
func ExampleBank() {
	bank, err := sim.ReadBankFile("testdata/cp-N1.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	cells, err := sim.Study(context.Background(), sim.StudyConfig{
		Contenders: []sim.Contender{
			{Name: "random", New: func(sim.Setting) bandit.Policy { return bandit.Random{} }},
			{Name: "improvement", New: func(s sim.Setting) bandit.Policy { return &bandit.ExpectedImprovement{T: s.Rounds} }},
		},
		Settings: []sim.Setting{{Family: bank, Arms: 10, N: bank.N, Rounds: 256}},
		Runs:     50,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cells[0].Setting)
	for _, e := range cells[0].Entries {
		fmt.Printf("%-11s %.1f\n", e.Name, sim.Summarize(e.Final).Mean.Value)
	}
	// Output:
	// bank-cp K=10 N=1 T=256
	// random      0.6
	// improvement 0.7
}

func ExampleRecord() {
	r := sim.Record(40, []float64{0.36, 0.36, 0.41, 0.41, 0.41, 0.58})
	fmt.Println(r.Rises)
	fmt.Println(r.Best(3))
	// Output:
	// [{0 0.36} {2 0.41} {5 0.58}]
	// [0.36 0.36 0.41 0.41]
}

func ExampleBank_Write() {
	bank := sim.Bank{Task: "sorting", N: 8, Made: "by hand", Searches: []sim.Recorded{
		sim.Record(1, []float64{0.5, 0.5, 0.75}),
		sim.Record(2, []float64{0.5, 0.625, 0.625}),
	}}
	if err := bank.Write(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"version": 1, "task": "sorting", "n": 8, "made": "by hand", "searches": [
	// {"seed": 1, "generations": 2, "rises": [[0,0.5],[2,0.75]]},
	// {"seed": 2, "generations": 2, "rises": [[0,0.5],[1,0.625]]}
	// ]}
}
