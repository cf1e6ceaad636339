package throwaway

import (
	"math/rand/v2"
	"slices"
	"testing"
)

const size = 5000

func random(seed uint64) []int {
	r := rand.New(rand.NewPCG(seed, 0))
	xs := make([]int, size)
	for i := range xs {
		xs[i] = r.IntN(size)
	}
	return xs
}

func TestSort(t *testing.T) {
	for n := range uint64(200) {
		xs := random(n)[:n]
		if n == 199 {
			xs = random(n)
		}
		want := slices.Sorted(slices.Values(xs))
		if Sort(xs); !slices.Equal(xs, want) {
			t.Fatalf("%d numbers are not sorted", len(xs))
		}
	}
}

func benchmark(b *testing.B, sort func([]int)) {
	all := random(1)
	xs := make([]int, size)
	for b.Loop() {
		copy(xs, all)
		sort(xs)
	}
}

func BenchmarkSort(b *testing.B)     { benchmark(b, Sort) }
func BenchmarkStandard(b *testing.B) { benchmark(b, slices.Sort[[]int]) }
