package sandbox

import "slices"

// A Layer shows the folder Base to a contained process in the place of the folder Target, with what Upper holds on top
// of it. What the process changes there goes to Upper, and Base stays as it is. Paths are absolute and without links.
type Layer struct {
	Base   string
	Upper  string // on the same disk as Work
	Work   string // an empty folder, for the kernel
	Target string
	// Deleted are paths below Base that Upper is to hide. None of them leads through a link.
	Deleted  []string
	ReadOnly bool // the process can change nothing there
}

// Layering returns a plan like p whose processes find layers. See [Plan.TryLayer].
func (p *Plan) Layering(layers []Layer) *Plan {
	q := *p
	q.layers = append(slices.Clone(p.layers), layers...)
	return &q
}
