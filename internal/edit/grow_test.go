package edit

import (
	"fmt"
	"strings"
	"testing"
)

// growing returns n blocks that each add so many short lines to what the ones before made.
func growing(n, lines int) string {
	var b strings.Builder
	for i := range n {
		more := strings.Repeat(fmt.Sprintf("x = %d\n", i), lines)
		b.WriteString(blk(fmt.Sprintf("# %d\n", i), fmt.Sprintf("%s# %d\n", more, i+1)))
	}
	return b.String()
}

// A program that grows from block to block has bounds, and so has what it takes to make it.
func TestGrowthIsBounded(t *testing.T) {
	divided := "=======\n" + strings.Repeat("a\n", 1<<19) // with a line that makes every division possible
	middles := SearchLine + "\nno such line\n" + strings.Repeat(MiddleLine+"\n", maxMiddles) + ReplaceLine + "\n"
	for _, tt := range []struct {
		reason, parent, reply, says string
	}{
		{"three megabytes in a few blocks", "# 0\n", growing(6, 80_000), "makes a program of more than 1048576 bytes"},
		{"just above what a program may be", "# 0\n", growing(256, 600), "makes a program of more than 1048576 bytes"},
		{"a large parent may grow to twice its size", "# 0\n" + strings.Repeat(strings.Repeat("y", 99)+"\n", 1<<14),
			growing(128, 1200), ""},
		{"a block that can be divided in many ways, in a large program", divided,
			strings.Repeat(blk("=======\n", "=======\n")+middles, 100), "matches nothing"},
		{"many passes over a large program", strings.Repeat("a\n", 1<<21) + "# 0\n", growing(256, 1),
			"passes over too much text"},
	} {
		_, err := diff(tt.parent, tt.reply)
		if (err == nil) != (tt.says == "") || err != nil &&
			(!strings.Contains(err.Error(), tt.says) || len(err.Error()) > 1000) {
			t.Errorf("%s: %v, want it to say %q", tt.reason, err, tt.says)
		}
	}
}
