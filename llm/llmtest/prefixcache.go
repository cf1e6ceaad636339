package llmtest

import (
	"container/list"
	"hash/maphash"
	"sync"
)

// A prefixCache simulates the prefix cache of an inference server. Prompts are cut into blocks of 16 tokens, a block is
// identified by its text and all text before it, and the least recently used blocks are evicted first, later ones of a
// prompt before earlier ones. Like vLLM's, the cache keeps a prompt's blocks from the moment they are computed, so that
// simultaneous requests share them, and never serves a whole prompt: the last token must be computed for the first
// token of the answer. It keeps whole blocks only, and no answers.
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

// serve returns how many of the prompt's tokens come from the cache, and caches the whole prompt.
func (c *prefixCache) serve(req Request) (cached int) {
	chain, tokens := c.chain(req)
	c.mu.Lock()
	defer c.mu.Unlock()
	hit := 0
	for hit < len(chain) && c.known[chain[hit]] != nil {
		hit++
	}
	for i := len(chain) - 1; i >= 0; i-- { // the beginning last, as it is the most valuable
		c.touch(chain[i])
	}
	for c.order.Len() > c.blocks {
		delete(c.known, c.order.Remove(c.order.Back()).(uint64))
	}
	return min(hit, (tokens-1)/block) * block
}

// clear empties the cache, like a restart.
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

// chain returns the hash of each whole block of the prompt including all text before it, and the number of tokens.
// Tokens are counted as by Tokens, message by message; a message's role is hashed with its first token.
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
				chain = append(chain, h.Sum64()) // of all text so far
			}
		}
		h.WriteByte(1) // separates the contents
	}
	return chain, tokens
}
