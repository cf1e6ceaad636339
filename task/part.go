package task

// A Partitioner is a [Task] whose programs consist of named parts, which a search can change one at a time
// ([Ask].Part). Find it with [As].
type Partitioner interface {
	// PartNames returns the distinct names of a program's parts in order, at least one.
	PartNames(program string) []string
	// ParsePart reads the new text of a part out of a reply, and returns parent with it in place of the old one.
	ParsePart(part, parent, reply string) (program string, err error)
}
