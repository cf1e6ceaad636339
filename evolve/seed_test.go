package evolve_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/evoalloc/evoalloc/evolve"
)

// The seeds that the paper's code derives; it takes run seeds modulo 2^32.
func TestChildSeedAgainstPaper(t *testing.T) {
	data, err := os.ReadFile("testdata/child_seeds.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Seed int64  `json:"run_seed"`
		N    int    `json:"N"`
		Gen  int    `json:"gen"`
		Idx  int    `json:"idx"`
		Want uint32 `json:"seed"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 50 {
		t.Fatalf("%d rows in testdata, want all of them", len(rows))
	}
	for _, r := range rows {
		if got := evolve.ChildSeed(uint32(r.Seed), r.N, r.Gen, r.Idx); got != r.Want {
			t.Errorf("%+v: got %d", r, got)
		}
	}
}

func ExampleChildSeed() {
	fmt.Println(evolve.ChildSeed(40, 64, 0, 0))
	// Output: 648031042
}
