package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/step"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/claim"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/gateway"
	"github.com/evoalloc/evoalloc/task"
)

// A Command is an operator whose children are made by a program of its own, such as a coding agent, in a contained
// checkout of the parent. It accounts for it in one of two ways.
//
// Without a Parse the agent asks the search's model through package gateway: it gets an address and the token of one
// session, in the variables of OpenAI's and Anthropic's clients, and nothing else of the network. Each of its calls is
// the session's, so it passes through budget, journal and retries. When the budget or a bound has no room, the agent is
// ended, and what it left until then is its program. The real key never enters the checkout.
//
// With a Parse the agent has a login of its own, and the whole session is one call of the model Own, which is recalled
// by its prompt. What the agent prints of its usage becomes the attempt's ([llm.Attempt].Reported), which nothing can
// check. If Budget.Models has Own, Own.MaxTokens at Own.Price is set aside before it starts. It needs an Editor under
// [isolation.None], as its network cannot be contained.
type Command struct {
	Editor *command.Editor // runs the agent; required
	// Bounds limit a session behind the gateway, but for Tries and Time, which is the Editor's Config.Timeout.
	Bounds      Bounds
	Instruction string // what is asked for beside the task; "" means to raise the score

	Parse Parse     // reads what an agent with a login of its own prints; nil means that it asks through the gateway
	Own   llm.Model // its Key and Price, and as MaxTokens the tokens of a session, prompts and completions together
}

var _ population.Operator = (*Command)(nil)

// Name is "agent".
func (c *Command) Name() string { return "agent" }

// String prints what decides a session but the model.
func (c *Command) String() string {
	b := c.Bounds.filled()
	return fmt.Sprintf("agent.Command(%v, calls=%d, tokens=%d, money=%v, own=%s, instruction=%q)", c.Editor, b.Calls,
		b.Tokens, b.Money, c.Own.Key, c.Instruction)
}

// Brief has the child made by a session on the parent. The agent finds the members of the archive, and the newest
// invalid programs, in the folder "earlier" of its HOME. It is shown the lines of sections, as for [Loop.Brief].
func (c *Command) Brief(v *population.View) evolve.Brief {
	b := v.Brief()
	b.Make = c.make(v.Task, v.Parent.Candidate, v.Sections, earlierOf(v))
	return b
}

// Make returns the Make of an [evolve.Brief] whose child is made of parent, for a search of your own. The agent is
// shown notes.
func (c *Command) Make(t task.Task, parent eval.Candidate, notes ...string) (
	make func(ctx context.Context, w *evolve.Work) (program string, err error)) {

	return c.make(t, parent, lessons(notes), nil)
}

func (c *Command) make(t task.Task, parent eval.Candidate, beside []task.Section, earlier []program) (
	make func(context.Context, *evolve.Work) (string, error)) {

	return func(ctx context.Context, w *evolve.Work) (string, error) {
		if err := c.validate(); err != nil {
			return "", broken(ctx, err)
		}
		job := command.Job{Prompt: commandPrompt(t, parent, c.Instruction, beside, len(earlier) > 0), Home: homeOf(earlier)}
		var out command.Edit
		var err error
		if c.Parse != nil {
			out, err = c.own(ctx, w, parent.Program, job)
		} else {
			out, err = c.through(ctx, w, parent.Program, job)
		}
		if err != nil {
			return "", err
		}
		return c.made(w, folderOf(t), parent.Program, out)
	}
}

func (c *Command) validate() error {
	if c.Editor == nil {
		return errors.New("agent: Command.Editor is nil")
	}
	if c.Parse != nil && c.Own.Key == "" {
		return errors.New("agent: Command.Own has no Key, by which the attempts of an agent with a login of its own are " +
			"named")
	}
	return nil
}

// made returns the program of an edit, or why there is none.
func (c *Command) made(w *evolve.Work, folder Folder, parent string, out command.Edit) (program string, err error) {
	why := ""
	if out.Fault != nil {
		why = "; the agent " + out.Fault.Reason
		w.Note("ended: " + out.Fault.Reason)
	}
	err = errors.New("no program")
	left := out.Omitted
	if out.Program != "" {
		var more []string
		program, more, err = folder.Canonical(parent, out.Program)
		left = append(left, more...)
	}
	if len(left) > 0 {
		w.Note(fmt.Sprintf("left out, %d: %s", len(left), strings.Join(left, "; ")))
	}
	if err != nil {
		return "", fmt.Errorf("%w%s%s%s", err, why, last("said", out.Stdout), last("printed on standard error", out.Stderr))
	}
	return program, nil
}

// last returns the end of what an agent printed, for an error.
func last(verb, text string) string {
	const most = 400
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	text = strings.ToValidUTF8(text[max(0, len(text)-most):], "")
	return "; it " + verb + ", last: " + strings.Join(strings.Fields(text), " ")
}

// socketName begins the names of folders for sockets; a number follows.
const socketName = "evoalloc-socket-"

// through runs the agent with a model behind a gateway.
func (c *Command) through(ctx context.Context, w *evolve.Work, program string, job command.Job) (out command.Edit,
	err error) {
	if err := c.Editor.CanReach(); err != nil {
		return out, broken(ctx, err)
	}
	claim.Sweep(os.TempDir(), socketName, os.RemoveAll) // those of killed processes
	dir, release, err := claim.Folder(socketName)
	if err != nil {
		return out, broken(ctx, fmt.Errorf("agent: for a socket: %w", err))
	}
	defer release()
	defer os.RemoveAll(dir) // a folder that stays does not cost the session, which is paid for
	socket := filepath.Join(dir, "s")
	g, err := gateway.Listen(gateway.Config{Socket: socket})
	if err != nil {
		return out, broken(ctx, err)
	}
	defer g.Close() // as above
	meter, bad := newMeter(ctx, c.Bounds, w)
	at, err := placeOf(ctx, w)
	if err = cmp.Or(bad, err); err != nil {
		return out, err
	}
	m := &till{meter: meter, work: w, trace: llm.TraceOf(ctx), stop: make(chan struct{})}
	s := g.Open(gateway.SessionConfig{Ask: m.ask, Seed: w.Seed, Requests: 4, MaxTokens: m.MaxTokens, Token: at.Token})
	defer s.Close()
	for _, v := range s.Env() {
		job.Env = append(job.Env, strings.ReplaceAll(v, s.BaseURL(), "http://{address}"))
	}
	job.Socket, job.Stop, job.Place, job.Time = socket, m.stop, at.Number, at.Time
	out, err = c.Editor.Edit(ctx, program, job)
	m.end(itself, nil)
	m.drain(ctx)
	s.Close() // no call of it is under way from here on
	if out.Fault != nil && m.why != itself {
		out.Fault.Reason += ": " + m.why
	}
	if m.err != nil {
		return out, m.err
	}
	return out, broken(ctx, err)
}

// broken returns the error of something that no program is to blame for, which ends the run, unless ctx has ended.
func broken(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &step.EvaluationError{Why: err}
}

// A till stands between an agent and the model: it holds the session within its bounds, and ends it at one.
type till struct {
	*meter
	work  *evolve.Work
	trace *llm.Trace    // of the child, by which a call is not sent once the run is coming to an end
	stop  chan struct{} // closed to end the agent
	why   string        // the agent was ended; guarded by mu, as err is
	err   error         // that ended the run
}

// ask answers a request of the agent.
func (t *till) ask(ctx context.Context, req llm.Request) (llm.Reply, error) {
	why, settle := t.begin(req)
	if why != "" {
		t.end(why, nil)
		return llm.Reply{}, errors.New(why)
	}
	err := t.compare(ctx, req)
	var reply llm.Reply
	if err == nil {
		reply, err = t.work.Ask(llm.WithTrace(ctx, t.trace), "agent", nil, req)
	}
	settle(reply.Attempts)
	t.work.Note(told(reply, err))
	limit, refused := evolve.Refused(err)
	switch {
	case refused && limit != "": // the agent's program is what it is now
		t.end("the budget's "+limit+" has no room for its next call", nil)
	case refused || err != nil && llm.Unavailable(err):
		t.end("the run is coming to an end", err)
	}
	return reply, err
}

// end ends the agent, and the run with err unless that is nil.
func (t *till) end(why string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = cmp.Or(t.err, err)
	if t.over {
		return
	}
	t.over, t.why = true, why
	t.ended.Broadcast()
	t.work.Note("ended: " + why)
	close(t.stop)
}

// itself says of a session that no bound ended it.
const itself = "the agent ended by itself"

// told returns what a transcript says of a call.
func told(reply llm.Reply, err error) string {
	if err != nil {
		return "a call failed: " + err.Error()
	}
	var b strings.Builder
	if text := strings.TrimSpace(reply.Text); text != "" {
		b.WriteString("said: " + text)
	}
	for _, c := range reply.Calls {
		fmt.Fprintf(&b, "\n%.100s %.600s", c.Name, c.Arguments)
	}
	return strings.TrimSpace(b.String())
}

// own runs an agent with a login of its own, as one call.
func (c *Command) own(ctx context.Context, w *evolve.Work, program string, job command.Job) (command.Edit, error) {
	req := llm.Request{Seed: w.Seed, Messages: []llm.Message{{Role: llm.System, Content: program},
		{Role: llm.User, Content: job.Prompt}}}
	if c.Own.MaxTokens > 0 {
		req.MaxTokens = &c.Own.MaxTokens
	}
	l := &login{Command: c, job: job}
	reply, err := w.Ask(ctx, "agent", l, req)
	return command.Edit{Program: reply.Text, Omitted: l.out.Omitted, Fault: l.out.Fault}, err
}

// A login is an agent with a login of its own as a model, whose reply is the program that it leaves.
type login struct {
	*Command
	job command.Job
	out command.Edit // result of the agent; zero if the call is recalled
}

// Generate runs the agent on the program in the first message. However an agent ends that was run, it was paid for:
// what it left is its answer, and without usage it is charged as the most that it may have spent.
func (l *login) Generate(ctx context.Context, req llm.Request) (reply llm.Reply, err error) {
	trace := llm.TraceOf(ctx)
	if err := trace.Send(l.Own.Key); err != nil {
		return llm.Reply{}, err
	}
	defer func() { trace.Ended(reply.Attempts) }()
	a := llm.Attempt{Status: llm.OK, Model: l.Own.Key, ActiveParams: l.Own.ActiveParams, MaxTokens: l.Own.MaxTokens}
	begin := time.Now()
	out, err := l.Editor.Edit(ctx, req.Messages[0].Content, l.job)
	a.Latency = time.Since(begin)
	l.out, err = l.ended(ctx, &a, out, err)
	return llm.Reply{Text: l.out.Program, Attempts: []llm.Attempt{a}}, err
}

// ended completes the attempt of an agent that ended with out and err. One that came to its end was paid for, even if
// its caller gives up just then, or its folders cannot be removed.
func (l *login) ended(ctx context.Context, a *llm.Attempt, out command.Edit, err error) (command.Edit, error) {
	switch {
	case err == nil || out.Fault != nil || out.Program != "":
		a.Usage, a.Money = l.Parse([]byte(out.Stdout))
		a.Reported = a.Usage != nil || a.Money > 0
		return out, nil
	case ctx.Err() != nil:
		a.Status, a.Err = llm.Canceled, context.Cause(ctx).Error()
	default:
		a.Status, a.Err, a.Unsent = llm.Failed, err.Error(), true
	}
	return command.Edit{}, err
}

// Announces returns true, see [llm.Announces].
func (l *login) Announces() bool { return true }

// String names the agent for journals.
func (l *login) String() string { return l.Command.String() }
