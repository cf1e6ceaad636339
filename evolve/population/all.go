package population

// All returns an archive of every valid program, as DGM has it. Selectors that draw give each member some weight. Over
// an archive that grows without bound they come to select almost uniformly.
func All() Archive { return &all{} }

type all struct{ ranked }

// Add keeps m.
func (a *all) Add(m Member) bool {
	if !a.replace(m) {
		a.add(m)
	}
	return true
}

// String names the archive.
func (a *all) String() string { return "All" }
