package text

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Exact scores 1 for a reply that equals the case's want, except for white space around it, and else 0. The feedback
// contains the want.
func Exact(c Case, reply string) (score float64, feedback string) {
	if strings.TrimSpace(reply) == strings.TrimSpace(c.Want) {
		return 1, ""
	}
	return 0, fmt.Sprintf("the reply should be %q", c.Want)
}

// A Graded is the input of Config.Scorer, as JSON instead of a program.
type Graded struct {
	Case
	Reply string `json:"reply"`
}

// byScorer has the scorer score a reply.
func (t *Task) byScorer(ctx context.Context, c Case, reply string) (score float64, feedback string, err error) {
	data, err := json.Marshal(Graded{c, reply})
	if err != nil {
		return 0, "", fmt.Errorf("text: %s: case %q: %w", t.Name(), c.ID, err)
	}
	r, err := t.cfg.Scorer.Evaluate(ctx, string(data))
	if err != nil {
		return 0, "", fmt.Errorf("text: %s: scoring case %q: %w", t.Name(), c.ID, err)
	}
	if r = r.Clean(); !r.Valid {
		return t.cfg.Worst, r.Reason, nil
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(r.Artifacts)) {
		if text := r.Artifacts[name]; name == artifactFeedback {
			said = append(said, text)
		} else {
			said = append(said, name+": "+text)
		}
	}
	return r.Score, strings.Join(said, "\n"), nil
}
