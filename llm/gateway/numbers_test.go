package gateway

import (
	"math/rand/v2"
	"testing"
)

// In whatever order numbers are taken and freed, each one taken is the lowest that nobody has.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var n numbers
	taken := make(map[uint32]bool)
	for range 5000 {
		if len(taken) == 0 || r.IntN(9) < 5 {
			want := uint32(0)
			for taken[want] {
				want++
			}
			if got := n.take(); got != want {
				t.Fatalf("took %d, want %d of %v", got, want, taken)
			}
			taken[want] = true
			continue
		}
		number := uint32(r.IntN(int(n.next)))
		for !taken[number] {
			number = uint32(r.IntN(int(n.next)))
		}
		delete(taken, number)
		n.free(number)
	}
	for number := range taken {
		n.free(number)
	}
	if n.next != 0 || len(n.freed) > 0 {
		t.Errorf("when all are free: next %d, freed %v", n.next, n.freed)
	}
}
