package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// A session is one piece of an agent's work, from the prompt to the program that comes of it.
type session struct {
	*Loop
	bounds  *meter
	work    *evolve.Work
	task    task.Task
	folder  Folder
	parent  string
	earlier []program // that the model can look at
	program string    // as it has been edited
	began   time.Time

	messages []llm.Message
	calls    int // of the model
	tries    int
	failures int // calls in a row that brought no answer
	idle     int // answers in a row that called no tool
	tried    []eval.Candidate
	done     bool // it was submitted
}

func newSession(l *Loop, w *evolve.Work, bounds *meter, t task.Task, parent eval.Candidate, beside []task.Section,
	earlier []program) *session {

	s := &session{Loop: l, bounds: bounds, work: w, task: t, folder: folderOf(t), parent: parent.Program,
		program: parent.Program, earlier: earlier}
	s.messages = []llm.Message{{Role: llm.System, Content: s.system(t)},
		{Role: llm.User, Content: s.first(parent, beside)}}
	return s
}

// The most answers in a row that are no use before a session ends.
const (
	mostFailures = 3 // calls that failed
	mostIdle     = 3 // replies without a call of a tool
)

// run asks the model and does what it says until it submits, or a bound is reached.
func (s *session) run(ctx context.Context) (program string, err error) {
	s.began = time.Now()
	for !s.done {
		if why := s.bound(); why != "" {
			return s.bounded(why)
		}
		reply, why, err := s.ask(ctx)
		switch limit, refused := evolve.Refused(err); {
		case why != "":
			return s.bounded(why)
		case err == nil:
			s.failures = 0
		case ctx.Err() != nil || refused && limit == "" || llm.Unavailable(err): // the run is coming to an end
			return "", err
		case refused:
			return s.bounded(err.Error())
		default:
			if s.failures++; s.failures == mostFailures {
				return s.end(fmt.Errorf("%d calls in a row failed, the last with: %w", s.failures, err))
			}
			continue
		}
		if err := s.act(ctx, reply); err != nil {
			return "", err
		}
	}
	return s.end(nil)
}

// bounded ends the session for a reason that is not the model's.
func (s *session) bounded(why string) (program string, err error) {
	s.work.Note("ended: " + why)
	return s.end(errors.New("the session ended before anything was submitted: " + why))
}

// bound returns the bound on time or idleness that the session has reached, in words, or "".
func (s *session) bound() string {
	switch {
	case time.Since(s.began) >= s.bounds.Time:
		return fmt.Sprintf("%v is the most time", s.bounds.Time)
	case s.idle >= mostIdle:
		return fmt.Sprintf("%d replies in a row called no tool", s.idle)
	}
	return ""
}

// ask asks the model for its next reply. why is the bound that leaves no room for that.
func (s *session) ask(ctx context.Context) (reply llm.Reply, why string, err error) {
	req := llm.Request{Messages: s.messages, Seed: evolve.ChildSeed(s.work.Seed, 0, 0, s.calls)}
	if !s.Text {
		req.Tools = s.tools()
	}
	why, settle := s.bounds.begin(req)
	if why != "" {
		return reply, why, nil
	}
	reply, err = s.work.Ask(ctx, "agent", nil, req)
	s.calls++
	settle(reply.Attempts)
	return reply, "", err
}

// act does what a reply says, and tells the model what came of it.
func (s *session) act(ctx context.Context, reply llm.Reply) error {
	calls := reply.Calls
	if len(calls) == 0 && s.Text {
		calls = callsIn(reply.Text)
	}
	left := max(0, len(calls)-mostCalls)
	calls = calls[:len(calls)-left]
	said := llm.Message{Role: llm.Assistant, Content: reply.Text}
	if reply.Text == "" && len(calls) == 0 { // endpoints refuse an empty message
		said.Content = "(nothing)"
	}
	if !s.Text {
		said.Calls = calls
	}
	s.messages = append(s.messages, said)
	if text := strings.TrimSpace(reply.Text); text != "" {
		s.work.Note("said: " + text)
	}
	if len(calls) == 0 {
		s.idle++
		s.messages = append(s.messages, llm.Message{Role: llm.User, Content: "You called no tool. Call one, or submit."})
		return nil
	}
	s.idle = 0
	var results []string
	for _, c := range calls {
		result := "not done: the program is submitted"
		if !s.done {
			var err error
			if result, err = s.call(ctx, c); err != nil {
				return err
			}
		}
		result = bounded(result, mostResult)
		if s.Text {
			results = append(results, fmt.Sprintf("%s: %s", c.Name, result))
			continue
		}
		s.messages = append(s.messages, llm.Message{Role: llm.ToolResult, CallID: c.ID, Content: result})
	}
	status := fmt.Sprintf("[call %d of %d, %d of %d tokens, try %d of %d]", s.calls, s.bounds.Calls,
		s.bounds.spent.tokens, s.bounds.Tokens, s.tries, max(0, s.bounds.Tries))
	if left > 0 {
		status = fmt.Sprintf("[%d more calls are not done: a reply has at most %d]\n", left, mostCalls) + status
	}
	if s.Text {
		s.messages = append(s.messages, llm.Message{Role: llm.User, Content: strings.Join(append(results, status), "\n\n")})
	} else {
		s.messages[len(s.messages)-1].Content += "\n" + status
	}
	return nil
}

// The bounds of what a session does for one reply.
const (
	mostCalls  = 16       // of tools
	mostResult = 16 << 10 // of what a tool returns, in bytes
)

// bounded returns text, or its two ends in about most bytes.
func bounded(text string, most int) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/2], text[len(text)-most/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n... %d bytes are left out ...\n", len(text)-most) +
		strings.ToValidUTF8(tail, "")
}

// end returns what the session made: what was submitted, or else the best program that was tried, or the one that there
// is. without is the error of a session that changed nothing.
func (s *session) end(without error) (string, error) {
	best := s.program
	if !s.done {
		var top eval.Candidate
		for _, c := range s.tried {
			if c.Better(top) && c.Program != s.parent {
				top, best = c, c.Program
			}
		}
	}
	if best != s.parent {
		return best, nil
	}
	if without == nil {
		without = errors.New("the session submitted the program that it was given")
	}
	return "", without
}
