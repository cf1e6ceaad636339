package agent

import (
	"context"
	"errors"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/llm"
)

// An agent with a login of its own that came to its end was paid for, whatever comes after that. One that did not start, or
// was ended, left no answer.
func TestEndsOfALogin(t *testing.T) {

	l := &login{Command: &Command{Parse: Claude, Own: llm.Model{Key: "agent"}}}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	done := command.Edit{Program: "x = 1", Stdout: `{"result": "done", "usage": {"output_tokens": 7}}`}
	faulty := command.Edit{Fault: &eval.ProgramError{Reason: "exited with status 1"}, Stdout: `{"usage": {"output_tokens": 7}}`}
	stays := errors.New("its folder cannot be removed")
	for _, tt := range []struct {
		reason string
		ctx    context.Context
		out    command.Edit
		err    error
		want   llm.Attempt // without texts
		tokens int
	}{
		{"it ended", t.Context(), done, nil, llm.Attempt{Status: llm.OK, Reported: true}, 7},
		{"it ended, and then the caller gave up", gone, done, nil, llm.Attempt{Status: llm.OK, Reported: true}, 7},
		{"its folder stays", t.Context(), done, stays, llm.Attempt{Status: llm.OK, Reported: true}, 7},
		{"it failed, and its folder stays", gone, faulty, stays, llm.Attempt{Status: llm.OK, Reported: true}, 7},
		{"it does not start", t.Context(), command.Edit{}, errors.New("no such file"),
			llm.Attempt{Status: llm.Failed, Unsent: true}, 0},
		{"the caller gave up", gone, command.Edit{}, gone.Err(), llm.Attempt{Status: llm.Canceled}, 0},
	} {
		a := llm.Attempt{Status: llm.OK}
		out, err := l.ended(tt.ctx, &a, tt.out, tt.err)
		if ok := a.Status == llm.OK; (err == nil) != ok || (a.Err == "") != ok || ok && out.Program != tt.out.Program {
			t.Errorf("%s: %+v, %v, %+v", tt.reason, out, err, a)
		}
		tokens := 0
		if a.Usage != nil {
			tokens = a.Usage.CompletionTokens
		}
		if a.Status != tt.want.Status || a.Unsent != tt.want.Unsent || a.Reported != tt.want.Reported || tokens != tt.tokens {
			t.Errorf("%s: %+v with %d tokens, want %+v with %d", tt.reason, a, tokens, tt.want, tt.tokens)
		}
	}
}
