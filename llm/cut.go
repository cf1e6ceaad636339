package llm

import "fmt"

// A window is what an endpoint's usage says of the longest prompts that it was sent.
type window struct {
	most  int // prompt tokens
	bytes int // of the shortest prompt that had as many
	said  bool
}

// leastCut is the shortest prompt, in bytes, that a server is taken to cut: the smallest windows hold as much.
const leastCut = 2000

// look tells Notice once of an endpoint that counts fewer prompt tokens than it was sent. Text has 2 to 5 bytes a token,
// so more than 6 and a tenth cannot be the whole prompt. What is cut less is seen as prompts grow: one that is longer by
// more than a tenth has exactly as many tokens as the largest before it, which are the window's. A tighter bound on
// single prompts would blame tokenizers that are good at code.
func (r *retrying) look(req Request, a Attempt) {
	bytes := 0
	for _, m := range req.Messages {
		bytes += len(m.Content)
	}
	if r.cfg.Notice == nil || a.Usage == nil || a.Reported || bytes < leastCut {
		return
	}
	n := a.Usage.Clean().PromptTokens
	r.mu.Lock()
	w := r.windows[a.Endpoint]
	if n > w.most || n == w.most && bytes < w.bytes {
		w.most, w.bytes = n, bytes
	}
	cut := !w.said && (float64(n) < 0.9*float64(bytes)/6 || n == w.most && float64(bytes) > 1.1*float64(w.bytes))
	w.said = w.said || cut
	r.windows[a.Endpoint] = w
	r.mu.Unlock()
	if cut {
		r.cfg.Notice(fmt.Sprintf("%s: the server cuts prompts (Ollama's num_ctx), or its usage is too low: "+
			"it counts %d tokens where %d bytes were sent", a.Endpoint, n, bytes))
	}
}
