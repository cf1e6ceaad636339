// Package pool spreads the calls of a run over several endpoints that serve one model.
//
//	p, err := pool.New(pool.Config{
//		Endpoints: []pool.Endpoint{{Name: "gpu1", LLM: a}, {Name: "gpu2", LLM: b}},
//		Slots:    64,
//	})
//	...
//	model := llm.Retry(p, llm.RetryConfig{})
//
// Calls that share a prompt go to one endpoint, whose prefix cache then holds the prompt. An endpoint that stalls or
// fails is taken out, and its calls go to the others, until a probe shows that it is back.
package pool

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// The defaults of a [Config].
const (
	defaultSlots   = 16
	defaultMaxWait = 5 * time.Minute
)

// factor is the load relative to the others at which an endpoint's calls go to the next, see [Pool].
const factor = 1.25

// An Endpoint is one of several servers of the same model.
type Endpoint struct {
	// Name identifies the endpoint in reports and errors, and in Attempt.Endpoint if LLM leaves that empty. Required and
	// unique. It also decides which prompts prefer the endpoint, so keep it from run to run.
	Name string
	LLM  llm.LLM // required; makes one attempt a call, or accounts for all
	// Slots bounds the calls in flight; 0 means Config.Slots.
	Slots int
}

// A Config configures a [Pool].
type Config struct {
	// Endpoints are the replicas, at least one.
	Endpoints []Endpoint
	// Slots bounds the calls in flight at each endpoint without Slots of its own. 0 means 16.
	Slots int
	// Quarantine is how long an endpoint that stalls or fails is first taken out, see [Pool]. 0 means 5 seconds.
	Quarantine time.Duration
	// Tries bounds the endpoints that one call is sent to. 0 means one more than there are.
	Tries int
	// MaxWait is how long a call waits while every endpoint is out. 0 means 5 minutes; negative
	// means not at all.
	MaxWait time.Duration
}

func (c Config) withDefaults() Config {
	c.Slots = cmp.Or(c.Slots, defaultSlots)
	c.Quarantine = cmp.Or(c.Quarantine, defaultQuarantine)
	c.Tries = cmp.Or(c.Tries, len(c.Endpoints)+1)
	c.MaxWait = cmp.Or(c.MaxWait, defaultMaxWait)
	return c
}

func (c Config) validate() error {
	switch {
	case len(c.Endpoints) == 0:
		return errors.New("pool: Config.Endpoints is empty: need at least one")
	case c.Slots < 0:
		return fmt.Errorf("pool: Config.Slots is %d: need at least 1", c.Slots)
	case c.Quarantine < 0:
		return fmt.Errorf("pool: Config.Quarantine is %v: need a positive duration", c.Quarantine)
	case c.Tries < 1:
		return fmt.Errorf("pool: Config.Tries is %d: need at least 1", c.Tries)
	}
	named := make(map[string]bool)
	for i, e := range c.Endpoints {
		switch {
		case e.LLM == nil:
			return fmt.Errorf("pool: Config.Endpoints[%d] (%q) has no LLM", i, e.Name)
		case e.Name == "":
			return fmt.Errorf("pool: Config.Endpoints[%d] has no name", i)
		case named[e.Name]:
			return fmt.Errorf("pool: Config.Endpoints[%d] is the second with the name %q", i, e.Name)
		case e.Slots < 0:
			return fmt.Errorf("pool: endpoint %q has %d slots: need at least 1", e.Name, e.Slots)
		}
		named[e.Name] = true
	}
	return nil
}

// A Pool is an LLM that spreads calls over several endpoints of one model.
//
// # Where a call goes
//
// Calls with the same messages, such as all children of one parent, should go to one endpoint, which has their prefix
// in its cache. Each call has an order of the endpoints, by weighted rendezvous hashing of its messages. It goes to the
// first endpoint in that order that is not overloaded. With m calls in flight at healthy endpoints, this one included,
// endpoint i with c_i of their C slots takes the call if it then has no more than
//
//	max(⌊1.25 · m · c_i / C⌋, 1)
//
// in flight, and no more than c_i. So no endpoint is idle while another of its size has two calls. The order does not
// change, so calls with one prefix whose first endpoint is overloaded go to the same second one. (Thaler,
// Ravishankar, "Using name-based mappings to increase hit rates", 1998; Schindelhauer, Schomaker, "Weighted distributed
// hash tables", 2005; Mirrokni, Thorup, Zadimoghaddam, "Consistent hashing with bounded loads", 2018.)
//
// Calls that find no slot wait, first come first served.
//
// # When an endpoint fails
//
// An endpoint is taken out when half of its last ten attempts, and at least five, stalled, timed out or failed. One
// that is [llm.Unavailable] is taken out at the first such error, and one that answers with Retry-After for as long as
// it asks, up to 2 minutes. The refusal of a faulty request (a prompt that is too long, a wrong parameter) counts as an
// answer, and a call that its caller canceled does not count. After the quarantine one call is sent as a probe. If it
// is answered, the endpoint is back, with a clean slate; if not, the next quarantine is twice as long, up to 2 minutes.
// Calls sent before a quarantine do not count after it.
//
// A call that stalls or fails at one endpoint goes to another, if the error is [llm.Retryable] or the endpoint was
// [llm.Unavailable]. It keeps its turn in the queue. It returns to the same endpoint only if that was taken out in
// between, and is sent to at most Tries endpoints. Before each further attempt the Again of the context's [llm.Trace]
// is called. When every healthy endpoint has failed a call, it ends with its last error, and further tries are up to
// [llm.Retry].
//
// While every endpoint is out, calls wait for a probe to bring one back, up to MaxWait. If no endpoint can be used at
// all, calls end at once with an error that names each endpoint and is [llm.Unavailable]. If one of them answered
// earlier and refuses connections now, it may be restarting, so calls wait. No other error of a Pool is Unavailable.
//
// Reply.Attempts has the attempts of all tries, each with its Endpoint.
//
// A Pool is safe for concurrent use, has no goroutines of its own, and needs no closing.
type Pool struct {
	cfg  Config
	ends []*endpoint

	mu       sync.Mutex
	queue    list.List // of *call, by ticket
	tickets  uint64
	requeued int
	outSince time.Time // when the last endpoint went out; zero while one is healthy
	expires  time.Time // while all are out: the earliest time at which a waiting call gives up
	timer    *time.Timer
	events   []Event
}

var _ llm.LLM = (*Pool)(nil)

// New returns the pool that cfg describes. It fails if a field of cfg is wrong, naming it.
func New(cfg Config) (*Pool, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	p := &Pool{cfg: cfg}
	for _, e := range cfg.Endpoints {
		p.ends = append(p.ends, newEndpoint(e, cfg))
	}
	return p, nil
}

// A call is one Generate under way. The pool's mutex guards its fields except ready; while the call is not queued, the
// caller's goroutine owns them.
type call struct {
	ticket   uint64
	order    []int // the endpoints, most wanted first
	tried    []int // by endpoint: the epoch in which it was sent there, -1 for never
	tries    int
	probed   bool // whether it was a probe already
	names    []string
	attempts []llm.Attempt
	err      error // the last error that is not Unavailable
	gone     error // the last error that is
	since    time.Time
	ready    chan grant
	turn     *list.Element
}

// A grant is a slot at an endpoint, or the reason why there will be none.
type grant struct {
	end   *endpoint
	epoch int
	probe bool
	err   error
}

func (p *Pool) newCall(req llm.Request) *call {
	c := &call{order: p.preference(req), tried: make([]int, len(p.ends))}
	for i := range c.tried {
		c.tried[i] = -1
	}
	return c
}

// Generate sends req to an endpoint, and to others while it fails.
func (p *Pool) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	c := p.newCall(req)
	for {
		g, err := p.acquire(ctx, c)
		if err != nil {
			return llm.Reply{Attempts: c.attempts}, err
		}
		reply, err, elsewhere := p.try(ctx, c, g, req)
		if !elsewhere {
			return reply, err
		}
		if no := llm.TraceOf(ctx).Again(ctx, req); no != nil {
			return reply, c.notSent(no)
		}
	}
}

// try sends the call once. elsewhere means that another endpoint may succeed.
func (p *Pool) try(ctx context.Context, c *call, g grant,
	req llm.Request) (reply llm.Reply, err error, elsewhere bool) {
	t := llm.TraceOf(ctx)
	out := verdict{silent: true} // if the endpoint panics, or nothing is sent
	var took []llm.Attempt
	defer func() {
		if p.settle(g, took, out) {
			t.Idle()
		}
	}()
	reply, err, refused := g.send(ctx, req)
	took = reply.Attempts
	c.attempts = append(c.attempts, took...)
	reply.Attempts = c.attempts
	if refused != nil && len(took) == 0 {
		return reply, c.notSent(refused), false
	}
	out = judge(took, err, ctx.Err() != nil)
	if err == nil {
		return reply, nil, false
	}
	c.note(g, err)
	if refused != nil || ctx.Err() != nil || !llm.Retryable(err) && !llm.Unavailable(err) {
		return reply, err, false
	}
	if c.tries >= p.cfg.Tries {
		return reply, c.failure(), false
	}
	return reply, err, true
}

// send sends req to the granted endpoint, and names it in the attempts. refused is the error of the context's Trace if
// that refused the attempt.
func (g grant) send(ctx context.Context, req llm.Request) (reply llm.Reply, err, refused error) {
	t := llm.TraceOf(ctx)
	ctx = llm.WithTrace(ctx, &llm.Trace{
		Send:  func(model string) error { refused = t.Send(model); return refused },
		Ended: func(attempts []llm.Attempt) { t.Ended(g.end.named(attempts)) },
	})
	reply, err = llm.Send(ctx, g.end.llm, req)
	reply.Attempts = g.end.named(reply.Attempts)
	return reply, err, refused
}

// notSent returns the error of a call that why kept from being sent to another endpoint.
func (c *call) notSent(why error) error {
	if c.tries == 0 {
		return why
	}
	return fmt.Errorf("%w (not sent elsewhere: %w)", c.failure(), why)
}

// note records a failed try.
func (c *call) note(g grant, err error) {
	c.tries++
	c.tried[g.end.index] = g.epoch
	c.probed = c.probed || g.probe
	c.names = append(c.names, g.end.name)
	if llm.Unavailable(err) {
		c.gone = err
	} else {
		c.err = err
	}
}

// failure returns the error of a call that has used up its tries. It is not Unavailable: another call may find another
// endpoint.
func (c *call) failure() error {
	err := c.err
	if err == nil {
		err = &llm.Error{Status: llm.Failed, Kind: llm.KindConnection,
			Err: errors.New(strings.TrimPrefix(c.gone.Error(), "llm: "))}
	}
	if len(c.names) < 2 {
		return err
	}
	return fmt.Errorf("%w (sent to %s)", err, strings.Join(c.names, ", "))
}

// Announces returns true, see [llm.Announces].
func (p *Pool) Announces() bool { return true }

// String returns the endpoints and the configuration.
func (p *Pool) String() string {
	var b strings.Builder
	for _, e := range p.ends {
		fmt.Fprintf(&b, "%s=%v ×%d, ", e.name, e.llm, e.slots)
	}
	return fmt.Sprintf("Pool(%sfactor %g, %d tries, out at %g stalled or %g failed of %d to %d, for %v to %v)",
		&b, factor, p.cfg.Tries, breakerRate, breakerRate, breakerMinAttempts, breakerWindow, p.cfg.Quarantine,
		max(longestQuarantine, p.cfg.Quarantine))
}
