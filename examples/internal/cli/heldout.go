package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/llm"
)

// Saved is what the file of a result says.
type Saved struct {
	Body    any              // written as JSON
	HeldOut **result.HeldOut // its part that is known last
	Model   llm.Model        // what calls for held-out cases are charged as
}

// heldOutEnding ends the name of the file of what was asked for held-out cases.
const heldOutEnding = ".heldout"

// scoredBefore returns the held-out score of the program in the result of an earlier process, so that its calls are not
// paid for again.
func (f *Files) scoredBefore(best eval.Candidate) *result.HeldOut {
	for _, base := range []string{f.saver.partial(), f.saver.base()} {
		if h := f.heldOutIn(base, best); h != nil {
			printHeldOut(h, nil)
			Printf("held-out cases were scored before: nothing was asked for them again\n\n")
			return h
		}
	}
	return nil
}

// scoreHeldOut scores the best program on cases that the task kept from the search, if it has any, and puts that into
// the result, which is saved at path without it. What goes wrong is printed and in the file. Each answer is kept as it
// comes. When ctx ends, calls under way have the grace of --grace; cases that are left then are [ErrCanceled].
func (f *Files) scoreHeldOut(ctx context.Context, path string, file Saved, r *evolve.Result) (err error) {
	if ctx.Err() != nil {
		return nil
	}
	kept := &answers{}
	if f.Journal != nil {
		if kept, err = openAnswers(f.saver.base()+heldOutEnding, f.run); err != nil {
			return err
		}
	}
	whole := false
	defer func() { err = errors.Join(err, kept.close(whole)) }()
	lasting, end := f.o.lasting(ctx)
	defer end()
	lasting = llm.WithTrace(lasting, &llm.Trace{Ask: kept.ask, Drain: ctx.Done()})
	h, bad := scoreHeld(lasting, f.task, r.Best, file.Model)
	switch {
	case h == nil:
		return nil
	case bad != nil && ctx.Err() != nil:
		printAsked(h)
		f.sayHeldOutLeft(r)
		return ErrCanceled
	}
	printHeldOut(h, bad)
	printAsked(h)
	h.Run = f.run
	*file.HeldOut = h
	if err := result.Save(path, file.Body); err != nil {
		return err
	}
	whole = bad == nil && h.Reason == "" // else another process scores again, by the answers that are kept
	if bad != nil {
		f.sayHeldOutLeft(r)
	}
	return nil
}

// sayHeldOutLeft prints how held-out cases that have no score yet get one.
func (f *Files) sayHeldOutLeft(r *evolve.Result) {
	switch {
	case unfinished(r): // what is printed of the run says it
	case f.Journal == nil:
		Printf("held-out cases are not all scored, and without a journal the run cannot go on with them\n")
	default:
		Printf("held-out cases are not all scored; this goes on with them:\n\n  %s\n", f.o.again("resume"))
	}
}

// lasting returns a context that ends --grace after ctx, or with end.
func (o *Options) lasting(ctx context.Context) (lasting context.Context, end func()) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	off := context.AfterFunc(ctx, func() {
		fmt.Fprintln(Stderr(), stopping)
		time.AfterFunc(o.Grace, cancel)
	})
	return lasting, func() {
		off()
		cancel()
	}
}

// heldOutIn returns the held-out score in the result with this name, if it is this run's and of the same program with
// the same score. It returns nil for a score that failed.
func (f *Files) heldOutIn(base string, best eval.Candidate) *result.HeldOut {
	if f.begun {
		return nil
	}
	program, err := os.ReadFile(base + f.saver.ext)
	if err != nil || string(program) != best.Program {
		return nil
	}
	h, searched := heldOutOf(base+".json"), best.Result
	if h == nil || h.Reason != "" || h.Run != f.run || h.Searched != searched.Score ||
		h.SearchedCases != len(searched.Cases) {
		return nil
	}
	return h
}

// heldOutOf returns the held-out score in the result at path, or nil if there is none.
func heldOutOf(path string) *result.HeldOut {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var file struct {
		HeldOut *result.HeldOut `json:"held_out"`
	}
	if json.Unmarshal(data, &file) != nil {
		return nil
	}
	return file.HeldOut
}

// printAsked prints what the scoring of held-out cases asked, over all processes.
func printAsked(h *result.HeldOut) {
	if h.FLOPs == nil {
		return
	}
	more := ""
	if n := h.FLOPs.WorstCase.Timeout + h.FLOPs.WorstCase.Error + h.FLOPs.WorstCase.Canceled; n > 0 {
		more = fmt.Sprintf(" and %s without an answer", Count(n, "attempt", "attempts"))
	}
	Printf("to score held-out cases asked %s%s, %d tokens: they are beside the budget and the figures above\n\n",
		Count(h.Use.Calls, "call", "calls"), more, h.Use.Tokens.Prompt+h.Use.Tokens.Completion)
}

// printHeldOut prints a held-out score. err is why it could not be computed.
func printHeldOut(h *result.HeldOut, err error) {
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
func gapText(g *result.Gap) string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf(", searched − held out %.6f (95 %% interval %.6f to %.6f)", g.Mean, g.Low, g.High)
}
