package gateway

import "slices"

// numbers hands out numbers from 0, always the lowest one that nobody has.
type numbers struct {
	next  uint32
	freed []uint32 // below next, ascending
}

func (n *numbers) take() uint32 {
	if len(n.freed) > 0 {
		lowest := n.freed[0]
		n.freed = n.freed[1:]
		return lowest
	}
	n.next++
	return n.next - 1
}

// free takes back a number that was handed out.
func (n *numbers) free(number uint32) {
	at, _ := slices.BinarySearch(n.freed, number)
	n.freed = slices.Insert(n.freed, at, number)
	for k := len(n.freed); k > 0 && n.freed[k-1] == n.next-1; k-- {
		n.freed = n.freed[:k-1]
		n.next--
	}
}
