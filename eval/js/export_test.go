package js

// Bounded returns c with other bounds for the depth of calls and the bytes of results and programs; 0 is the default.
func Bounded(c Config, depth, output, program int) Config {
	c.depth, c.output, c.program = depth, output, program
	return c
}
