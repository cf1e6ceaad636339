package population

// AddTo adds a member to one island, as a search does with a child.
func (s *Islands) AddTo(part int, m *Member) { s.addTo(part, m) }
