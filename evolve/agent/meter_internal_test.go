package agent

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/evoalloc/evoalloc/llm"
)

// What calls under way may cost is held against the bounds, so several at once do not pass them.
func TestMeterOfCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prompt := func(bytes int) llm.Request {
			return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: strings.Repeat("x", bytes)}}}
		}
		m := &meter{Bounds: Bounds{Tokens: 50_000, MaxTokens: 1000}.filled()}
		m.ended = sync.NewCond(&m.mu)
		why, first := m.begin(prompt(30_000))
		if why != "" {
			t.Fatal(why)
		}
		second := make(chan string)
		go func() {
			why, settle := m.begin(prompt(30_000))
			second <- why
			settle(nil)
		}()
		synctest.Wait()
		select {
		case <-second:
			t.Fatal("two calls may pass the bound together, and both were begun")
		default:
		}
		first([]llm.Attempt{{Status: llm.OK, Usage: &llm.Usage{PromptTokens: 8000, CompletionTokens: 10}}})
		if why := <-second; why != "" {
			t.Errorf("the second found no room: %s", why)
		}
		if why, _ := m.begin(prompt(8 << 20)); !strings.Contains(why, "50000 tokens") {
			t.Errorf("a prompt of 8 MiB is begun: %q", why)
		}
		if m.spent.tokens != 8010 || m.held.tokens != 0 {
			t.Errorf("spent %d, held %d", m.spent.tokens, m.held.tokens)
		}
	})
}
