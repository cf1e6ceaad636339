package task

import (
	"crypto/sha256"
	"fmt"
)

// Digest returns a hash of what t asks of a model for its initial program. In the fingerprint of a journal it tells
// tasks of one name apart.
func Digest(t Task) string {
	h := sha256.New()
	fmt.Fprintln(h, t.Initial())
	for _, m := range t.Prompt(Request{}) {
		fmt.Fprintln(h, m.Role, m.Content)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}
