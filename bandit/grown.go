package bandit

// grown returns x with zero values appended up to n entries. Policies keep one entry an arm this way: an arm
// that nothing was heard of is all zero, so growing in Probs does not show.
func grown[T any](x []T, n int) []T {
	if more := n - len(x); more > 0 {
		x = append(x, make([]T, more)...)
	}
	return x
}
