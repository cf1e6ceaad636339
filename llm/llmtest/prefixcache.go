package llmtest

import (
	"container/list"
	"hash/maphash"
	"sync"
)

// A prefixCache simulates the one of an inference server: prompts are cut into blocks of 16 tokens,
// a block is known by its own text and all that stands before it, and of the blocks that do not fit
// the least recently used go first, later ones of a prompt before earlier ones. Like vLLM's it keeps
// a prompt's blocks from the moment they are computed, so that requests in flight together share
// them, and never serves a whole prompt: its last token has to be computed for the first token of
// the answer. Only whole blocks are kept, and no answers.
type prefixCache struct {
	mu     sync.Mutex
	blocks int // capacity
	seed   maphash.Seed
	known  map[uint64]*list.Element // of order, by the hash of a block and all before it
	order  *list.List               // of uint64, most recently used first
}

func newPrefixCache(blocks int) *prefixCache {
	return &prefixCache{
		blocks: blocks, seed: maphash.MakeSeed(),
		known: make(map[uint64]*list.Element), order: list.New(),
	}
}

// serve returns how many of the prompt's tokens come from the cache, and puts all of it there.
func (c *prefixCache) serve(req Request) (cached int) {
	chain, tokens := c.chain(req)
	c.mu.Lock()
	defer c.mu.Unlock()
	hit := 0
	for hit < len(chain) && c.known[chain[hit]] != nil {
		hit++
	}
	for i := len(chain) - 1; i >= 0; i-- { // the beginning last: it is the most worth keeping
		c.touch(chain[i])
	}
	for c.order.Len() > c.blocks {
		delete(c.known, c.order.Remove(c.order.Back()).(uint64))
	}
	return min(hit, (tokens-1)/block) * block
}

// clear forgets everything, as a server does that is started again.
func (c *prefixCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
	c.order.Init()
}

func (c *prefixCache) touch(h uint64) {
	if e := c.known[h]; e != nil {
		c.order.MoveToFront(e)
		return
	}
	c.known[h] = c.order.PushFront(h)
}

// chain returns the hash of each whole block of the prompt with all before it, and the prompt's
// tokens. Tokens are counted as by Tokens, message by message; whose message it is is hashed with
// its first token.
func (c *prefixCache) chain(req Request) (chain []uint64, tokens int) {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, m := range req.Messages {
		h.WriteString(m.Role)
		h.WriteByte(0)
		for text := m.Content; text != ""; tokens++ {
			n := min(4, len(text))
			h.WriteString(text[:n])
			text = text[n:]
			if tokens%block == block-1 {
				chain = append(chain, h.Sum64()) // of all that was written so far
			}
		}
		h.WriteByte(1) // contents do not run into each other
	}
	return chain, tokens
}
