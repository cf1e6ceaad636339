package llmtest

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
)

// prompt makes a request of messages given as role, content, role, content...
func prompt(turns ...string) Request {
	var r Request
	for i := 0; i < len(turns); i += 2 {
		r.Messages = append(r.Messages, llm.Message{Role: turns[i], Content: turns[i+1]})
	}
	return r
}

// text is n tokens long, every one of them different from its neighbours and from other names'.
func text(name byte, n int) string {
	var b strings.Builder
	for i := range n {
		b.Write([]byte{name, byte('a' + i/26/26%26), byte('a' + i/26%26), byte('a' + i%26)})
	}
	return b.String()
}

func TestPrefixCacheServesLeadingBlocks(t *testing.T) {
	long, other := text('x', 100), text('y', 100)
	for _, tt := range []struct {
		reason      string
		first, then Request
		want        int
	}{
		{"nothing is known at first", prompt(), prompt("user", long), 0},
		{"six whole blocks of the same prompt, not the four tokens over", prompt("user", long), prompt("user", long), 96},
		{"the last token is computed even if all blocks are known", prompt("user", long[:384]), prompt("user", long[:384]),
			80},
		{"another end costs the block it lies in", prompt("user", long), prompt("user", long[:376]+"else"), 80},
		{"another beginning costs all", prompt("user", long), prompt("user", "else"+long[4:]), 0},
		{"a block known from elsewhere does not count without what stood before it",
			prompt("user", long), prompt("user", other[:64]+long[64:]), 0},
		{"the system message is shared by requests that go on differently",
			prompt("system", long, "user", long), prompt("system", long, "user", other), 96},
		{"whose message it is makes a difference", prompt("system", long), prompt("user", long), 0},
		{"and where a message ends", prompt("user", long+other), prompt("user", long, "user", other), 96},
		{"an empty prompt is not served", prompt("user", long), prompt("user", ""), 0},
	} {
		c := newPrefixCache(1000)
		c.serve(tt.first)
		if got := c.serve(tt.then); got != tt.want {
			t.Errorf("%s: %d tokens cached, want %d", tt.reason, got, tt.want)
		}
	}
}

func TestPrefixCacheEvictsTheLeastRecentlyUsed(t *testing.T) {
	c := newPrefixCache(13) // two prompts of six blocks, and one block
	a, b, d := prompt("user", text('a', 97)), prompt("user", text('b', 97)), prompt("user", text('d', 97))
	for _, tt := range []struct {
		reason string
		req    Request
		want   int
	}{
		{"a is new", a, 0}, {"b is new", b, 0}, {"a is kept", a, 96},
		{"d takes the free block and five of b's, the last ones first", d, 0},
		{"a was used after b", a, 96},
		{"b's first block is left, and the rest takes d's last five", b, 16},
		{"d's first block is left", d, 16},
	} {
		if got := c.serve(tt.req); got != tt.want {
			t.Errorf("%s: %d tokens cached, want %d", tt.reason, got, tt.want)
		}
		if n := c.order.Len(); n != len(c.known) || n > 13 {
			t.Errorf("%s: %d blocks in order, %d known, capacity 13", tt.reason, n, len(c.known))
		}
	}
}

func TestPrefixCacheKeepsTheBeginningOfWhatIsTooLong(t *testing.T) {
	c := newPrefixCache(4)
	for i, want := range []int{0, 64} {
		if got := c.serve(prompt("user", text('a', 97))); got != want {
			t.Errorf("time %d: %d tokens cached, want %d", i, got, want)
		}
	}
}
