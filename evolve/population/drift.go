package population

// Drift returns an archive of one program, which gives way to one that scores the same. Where many programs do, as
// where scores are counts, the search drifts over them and is asked for rewrites of other programs all the time. It is
// greedy search's, and does as Top(1) where no two programs score the same.
func Drift() Archive { return &drift{} }

type drift struct{ members []Member }

var _ Archive = (*drift)(nil)

// Add keeps m unless the program that is kept is better.
func (d *drift) Add(m Member) bool {
	if Replace(d.members, m) {
		return true
	}
	if len(d.members) > 0 && outranks(&d.members[0], &m) {
		return false
	}
	d.members = []Member{m}
	return true
}

// Members returns the program that is kept.
func (d *drift) Members() []Member { return d.members }

// String names the archive.
func (d *drift) String() string { return "Drift" }
