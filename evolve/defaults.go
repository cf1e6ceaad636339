package evolve

// Defaults and bounds.
const (
	// DefaultN is the number of children in a generation where none is given. It is the BaSE paper's.
	DefaultN = 64
	// MaxN is the most children in a generation, and the most arms that [GreedyArms] makes. Without a window
	// each child waits in a goroutine of its own. A larger number is a slip that would fill the memory.
	MaxN = 100_000
	// DefaultStalls is the least number of stalled attempts that a budget of calls allows if its Stalls is 0. A
	// tenth of nine calls would allow none.
	DefaultStalls = 10
	// KindChild is the kind of a call that asks for a child ([Turn.Ask]).
	KindChild = "child"
)
