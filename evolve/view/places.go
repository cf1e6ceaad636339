package view

// places are the cells and islands that children were put in, by label.
type places struct {
	order []int // labels, in the order in which they came
	all   map[int]placeState
}

func newPlaces() places { return places{all: map[int]placeState{}} }

// name says what the place with a label is. A grid's cell has coordinates.
func (p *places) name(label int, kind, name string, at []int) {
	if _, known := p.all[label]; !known {
		p.all[label] = placeState{Kind: kind, Name: name, At: at, Row: -1}
		p.order = append(p.order, label)
	}
}

// settle counts a child that stays as it is, in its cell and on its island.
func (p *places) settle(r *rows, at int) {
	for _, label := range []int{r.Cell[at], r.Island[at]} {
		if place, ok := p.all[label]; ok {
			p.all[label] = place.with(r, at)
		}
	}
}

// with returns the place with one more child.
func (p placeState) with(r *rows, at int) placeState {
	p.Children++
	if s := r.Score[at]; s != nil && (p.Row < 0 || *s > p.Score) {
		p.Row, p.Score = at, *s
	}
	return p
}

// placeList returns the places, with the children of pulls that are not over.
func (l *runLog) placeList() []placeState {
	now := newPlaces()
	for label, place := range l.places.all {
		now.all[label] = place
	}
	for _, p := range l.pulls {
		for at := range p.entries {
			now.settle(&l.rows, at)
		}
	}
	list := []placeState{}
	for _, label := range l.places.order {
		list = append(list, now.all[label])
	}
	return list
}
