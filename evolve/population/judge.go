package population

import (
	"context"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

const judging = `Two programs for the same task follow. Say whether the second one differs from the first in what it does: in its method, and not only in names, comments, layout or the values of a few constants. Reason in a few sentences, and then end with exactly one of these lines:

VERDICT: NEW
VERDICT: SAME`

// novel reports whether judge says that program is new beside other.
func novel(ctx context.Context, v *View, judge llm.LLM, other, program string) (bool, error) {
	language := languageOf(v.Task)
	text := fmt.Sprintf("%s\n\nFirst program:\n\n%s\n\nSecond program:\n\n%s\n", judging, task.Fence(other, language),
		task.Fence(program, language))
	reply, err := v.Ask(ctx, "judge", judge, []llm.Message{{Role: llm.User, Content: text}})
	if err != nil {
		if _, refused := evolve.Refused(err); refused || ctx.Err() != nil {
			return false, err
		}
		return false, nil // the turn ends the run if the model is gone
	}
	return verdict(reply.Text) == "NEW", nil
}

// verdict returns the last verdict of a reply: "NEW", "SAME", or "" if there is none.
func verdict(reply string) (last string) {
	for line := range strings.Lines(reply) {
		line = strings.Trim(strings.ToUpper(line), " \t\r\n*_`.>#-")
		word, ok := strings.CutPrefix(line, "VERDICT:")
		if !ok {
			continue
		}
		switch word = strings.Trim(word, " \t*_`."); word {
		case "NEW", "SAME":
			last = word
		default:
			last = ""
		}
	}
	return last
}
