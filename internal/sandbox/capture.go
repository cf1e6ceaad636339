package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// A Capture keeps the first and the last bytes of an output, and counts them. One goroutine at a time
// uses it.
type Capture struct {
	Keep       int // bytes of each end
	head, tail []byte
	size       int
}

// Take adds output.
func (c *Capture) Take(p []byte) {
	c.size += len(p)
	n := min(c.Keep-len(c.head), len(p))
	c.head = append(c.head, p[:n]...)
	c.tail = append(c.tail, p[n:]...)
	if len(c.tail) > 4*c.Keep {
		c.cut()
	}
}

// cut leaves the last bytes of the tail.
func (c *Capture) cut() { c.tail = bytes.Clone(c.tail[max(len(c.tail)-c.Keep, 0):]) }

// Size returns the number of bytes of output.
func (c *Capture) Size() int { return c.size }

// String returns the kept bytes, with the number of those left out.
func (c *Capture) String() string {
	c.cut()
	text, lost := string(c.head), c.size-len(c.head)-len(c.tail)
	if lost > 0 {
		text += fmt.Sprintf("\n... %d bytes left out ...\n", lost)
	}
	return text + string(c.tail)
}

// Relative returns text, made valid UTF-8, with paths in the folder scratch relative to it. Temporary folders get new
// names each time, but equal programs should give equal texts.
func Relative(text, scratch string) string {
	if scratch != "" {
		text = strings.ReplaceAll(text, scratch+string(os.PathSeparator), "")
		text = strings.ReplaceAll(text, scratch, ".")
	}
	return strings.ToValidUTF8(text, "\ufffd")
}
