package history

// A Builder is fed with records by tests.
type Builder = builder

func NewBuilder(reply func(int, string)) *Builder {
	b := newBuilder()
	b.reply = reply
	return b
}

func (b *builder) Told() *Run { return b.run }
