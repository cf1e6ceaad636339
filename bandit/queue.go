package bandit

// queue is numbers, oldest first, of which the sum is known. It is made of two stacks, so that nothing is ever
// subtracted: subtracting a large number leaves its rounding error in the sum after it has left.
type queue struct {
	old   []float64 // an entry for each older number, the newest first: its sum with the newer ones of them
	fresh []float64 // the newer numbers, oldest first
	added float64   // sum of fresh
}

func (q *queue) len() int { return len(q.old) + len(q.fresh) }

func (q *queue) push(x float64) {
	q.fresh = append(q.fresh, x)
	q.added += x
}

// pop drops the oldest number.
func (q *queue) pop() {
	if len(q.old) == 0 {
		var sum float64
		for i := len(q.fresh) - 1; i >= 0; i-- {
			sum += q.fresh[i]
			q.old = append(q.old, sum)
		}
		q.fresh, q.added = q.fresh[:0], 0
	}
	q.old = q.old[:len(q.old)-1]
}

func (q *queue) sum() float64 {
	if n := len(q.old); n > 0 {
		return q.old[n-1] + q.added
	}
	return q.added
}
