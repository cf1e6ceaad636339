package task

import (
	"fmt"
	"runtime"
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

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Each block costs passes over the program, but no copy of it: what a reply of many blocks allocates grows as
// its length does, and not with the square.
func TestGrowingBlocksAllocateLittle(t *testing.T) {
	const most = 100 // bytes for each byte of the reply
	for _, n := range []int{64, 128, 256} {
		reply := growing(n, 400)
		got := allocated(func() {
			program, err := ParseDiff("# 0\n", reply, "python")
			if err != nil || !strings.HasSuffix(program, fmt.Sprintf("\n# %d\n", n)) {
				t.Errorf("%d blocks: error %v, %d bytes", n, err, len(program))
			}
		})
		if per := got / uint64(len(reply)); per > most {
			t.Errorf("%d blocks: %d bytes allocated for each of the %d of the reply, want at most %d", n, per, len(reply), most)
		}
	}
}

// A program that grows from block to block has bounds, and so has what it takes to make it.
func TestGrowthIsBounded(t *testing.T) {
	divided := "=======\n" + strings.Repeat("a\n", 1<<19) // with a line that makes every division possible
	middles := searchLine + "\nno such line\n" + strings.Repeat(middleLine+"\n", 32) + replaceLine + "\n"
	for _, tt := range []struct {
		reason, parent, reply, says string
	}{
		{"three megabytes in a few blocks", "# 0\n", growing(6, 80_000), "its blocks have more than 2097152 bytes"},
		{"just above what a program may be", "# 0\n", growing(256, 600), "makes a program of more than 1048576 bytes"},
		{"a large parent may grow to twice its size", "# 0\n" + strings.Repeat(strings.Repeat("y", 99)+"\n", 1<<14),
			growing(128, 1200), ""},
		{"a block that can be divided in many ways, in a large program", divided,
			strings.Repeat(blk("=======\n", "=======\n")+middles, 100), "matches nothing"},
		{"many passes over a large program", strings.Repeat("a\n", 1<<21) + "# 0\n", growing(256, 1),
			"passes over too much text"},
	} {
		_, err := ParseDiff(tt.parent, tt.reply, "python")
		if (err == nil) != (tt.says == "") || err != nil &&
			(!strings.Contains(err.Error(), tt.says) || len(err.Error()) > 1000) {
			t.Errorf("%s: %v, want it to say %q", tt.reason, err, tt.says)
		}
	}
}
