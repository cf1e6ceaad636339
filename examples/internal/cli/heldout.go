package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// HeldOut scores the best program on cases that the task kept from the search, if it has any, prints that, and
// returns it for the result's file. What goes wrong is printed and in the file. A run that goes on and ends with the
// program of an earlier result takes the score from there, so that its calls are not paid for again.
func (f *Files) HeldOut(ctx context.Context, best eval.Candidate, m llm.Model) *report.HeldOut {
	for _, base := range []string{f.saver.partial(), f.saver.base()} {
		if h := f.heldOutIn(base, best); h != nil {
			printHeldOut(h, nil)
			Printf("held-out cases were scored before: nothing was asked for them again\n\n")
			return h
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	h := scoreHeldOut(ctx, f.task, best, m)
	if h != nil {
		h.Run = f.run
	}
	return h
}

// heldOutIn returns the held-out score in the result with this name, if it is this run's and of the same program with
// the same score. It returns nil for a score that failed.
func (f *Files) heldOutIn(base string, best eval.Candidate) *report.HeldOut {
	if f.begun {
		return nil
	}
	program, err := os.ReadFile(base + f.saver.ext)
	if err != nil || string(program) != best.Program {
		return nil
	}
	data, err := os.ReadFile(base + ".json")
	if err != nil {
		return nil
	}
	var file struct {
		HeldOut *report.HeldOut `json:"held_out"`
	}
	if json.Unmarshal(data, &file) != nil || file.HeldOut == nil {
		return nil
	}
	h, searched := file.HeldOut, best.Result
	if h.Reason != "" || h.Run != f.run || h.Searched != searched.Score || h.SearchedCases != len(searched.Cases) {
		return nil
	}
	return h
}

func scoreHeldOut(ctx context.Context, t task.Task, best eval.Candidate, m llm.Model) *report.HeldOut {
	h, err := report.ScoreHeldOut(ctx, t, best, m)
	if h == nil {
		return nil
	}
	printHeldOut(h, err)
	if h.FLOPs != nil {
		Printf("to score held-out cases asked %s, %d tokens: they are beside the budget and the figures above\n\n",
			Count(h.Use.Calls, "call", "calls"), h.Use.Tokens.Prompt+h.Use.Tokens.Completion)
	}
	return h
}

// printHeldOut prints a held-out score. err is why it could not be computed.
func printHeldOut(h *report.HeldOut, err error) {
	switch {
	case err != nil:
		Printf("held out: %s\n\n", h.Reason)
	case h.Reason != "":
		Printf("held out: invalid: %s\n\n", h.Reason)
	default:
		Printf("held out: %.6f%s%s\n\n", h.Score, metrics(h.Metrics), gapText(h.Gap))
	}
	if h.Note != "" {
		Printf("warning: %s\n\n", h.Note)
	}
}

// gapText says by how much a held-out score is below the searched one.
func gapText(g *report.Gap) string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf(", searched − held out %.6f (95 %% interval %.6f to %.6f)", g.Mean, g.Low, g.High)
}
