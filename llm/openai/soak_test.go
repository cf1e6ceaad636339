package openai_test

import (
	"context"
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

var soakCalls = flag.Int("soak", 400, "how many calls TestSoak makes")

const (
	soakLimit    = time.Second     // of clients that meet an attempt that hangs
	soakPatience = 5 * time.Minute // of all others, which no machine is late for
	soakInFlight = 64              // of each kind of call
	soakBroken   = 16              // calls that each restart breaks off
	soakShare    = 0.3             // of the attempts go wrong
)

// soakText is the answer.
const soakText = "function f() { return [0.5, 0.25]; }"

// The ways to make a call in the soak, which are the names of its models.
const (
	soakStreamed = "streamed" // usage as it goes
	soakRefused  = "refused"  // a stream whose options the endpoint does not know
	soakWhole    = "whole"    // not streamed
)

// A soak makes calls under a mix of all faults, and counts what becomes of their attempts. Every time a
// call is sent it has a seed of its own, see tagged, by which both sides know it.
type soak struct {
	srv    *llmtest.Server
	stacks map[string]llm.LLM
	idle   func() // closes idle connections

	mu       sync.Mutex
	tries    map[uint32]int             // of a call, by its seed
	met      map[uint32][]llmtest.Fault // at the server, by the seed of the try
	ended    map[uint32][]llm.Status    // at the client: the attempts that were sent
	statuses map[llm.Status]int         // of them
	answered int                        // calls
	unsent   int                        // attempts whose limit passed before there was a connection
}

// soakRounds is how often the server is restarted.
func soakRounds() int { return min(4, 1+*soakCalls/1000) }

// TestSoak compares what became of each attempt with what the server did to it, under all faults at once,
// restarts and callers that give up. They agree exactly.
//
//	go test -race -run Soak ./llm/openai -soak 20000
func TestSoak(t *testing.T) {
	noLeak(t)
	s := newSoak(t)
	for round := range soakRounds() {
		s.round(t, round, *soakCalls/soakRounds())
		s.restart(t, round)
	}
	s.settle(t)
	stats := s.srv.Stats()
	t.Logf("%d calls, %d answered, %d attempts that were sent: %v (%d were not); the server's %d requests: %v",
		*soakCalls, s.answered, s.sent(), s.statuses, s.unsent, stats.Calls, stats.Ended)
	s.wantTotals(t, stats)
	s.wantEach(t)
	s.wantAll(t, stats)
}

// wantTotals wants both sides to have counted the same.
func (s *soak) wantTotals(t *testing.T, stats llmtest.Stats) {
	t.Helper()
	e := stats.Ended
	server := map[string]int{
		"an answer": e["answered"],
		"a failure": e["refused"] + e["spoiled"] + e["broken off"],
		"given up":  e["left"],
		"all":       stats.Calls,
		"in flight": stats.InFlight,
	}
	client := map[string]int{
		"an answer": s.statuses[llm.OK],
		"a failure": s.statuses[llm.Failed],
		"given up":  s.statuses[llm.Stalled] + s.statuses[llm.Timeout] + s.statuses[llm.Canceled],
		"all":       s.sent(),
		"in flight": 0,
	}
	if diff := gocmp.Diff(server, client); diff != "" {
		t.Errorf("attempts (-server +client):\n%s", diff)
	}
	if s.statuses[llm.OK] != s.answered {
		t.Errorf("%d attempts brought an answer, %d calls have one", s.statuses[llm.OK], s.answered)
	}
}

// wantEach wants each attempt to have ended as the fault that it met has it.
func (s *soak) wantEach(t *testing.T) {
	t.Helper()
	want := map[uint32][]llm.Status{}
	for seed, faults := range s.met {
		for _, f := range faults {
			want[seed] = append(want[seed], soakStatus(seed, f))
		}
	}
	if diff := gocmp.Diff(want, s.ended); diff != "" {
		t.Errorf("attempts by seed (-server +client):\n%s", diff)
	}
}

// soakStatus is how an attempt ends that meets f.
func soakStatus(try uint32, f llmtest.Fault) llm.Status {
	seed, _ := call(try)
	switch f {
	case "", "length", "no usage", "negative usage", "cached above prompt", "wrong-typed usage", "duplicate chunks":
		return llm.OK
	case "hang", "hang first token", "hang body", "drip":
		switch {
		case seed >= soakBreak: // the restart came first
			return llm.Failed
		case abandoned(seed):
			return llm.Canceled
		case soakKind(seed) == soakWhole:
			return llm.Timeout
		}
		return llm.Stalled
	}
	return llm.Failed
}

// sent is how many attempts the client has sent.
func (s *soak) sent() (n int) {
	for k := range maps.Values(s.statuses) {
		n += k
	}
	return n
}

// wantAll wants every fault to have been met, if there were enough calls.
func (s *soak) wantAll(t *testing.T, stats llmtest.Stats) {
	t.Helper()
	for _, f := range llmtest.Faults() {
		if *soakCalls >= 2000 && stats.Faults[f] == 0 {
			t.Errorf("no request met %s", f)
		}
	}
	for _, status := range []llm.Status{llm.OK, llm.Failed, llm.Stalled, llm.Timeout, llm.Canceled} {
		if s.statuses[status] == 0 {
			t.Errorf("no attempt ended as %s: %v", status, s.statuses)
		}
	}
}

func newSoak(t *testing.T) *soak {
	s := &soak{
		stacks: map[string]llm.LLM{}, tries: map[uint32]int{}, met: map[uint32][]llmtest.Fault{},
		ended: map[uint32][]llm.Status{}, statuses: map[llm.Status]int{},
	}
	s.srv = serve(t, llmtest.Config{Reply: say(soakText), Drip: time.Hour, RetryAfter: time.Second, Fault: s.fault})
	var clients []*openai.Client
	for _, how := range []string{soakStreamed, soakRefused, soakWhole} {
		patient, hasty := soakClient(t, s.srv.URL, how, soakPatience), soakClient(t, s.srv.URL, how, soakLimit)
		clients = append(clients, patient, hasty)
		s.stacks[how] = llm.Retry(llm.Limit(s.route(patient, hasty), soakInFlight), llm.RetryConfig{
			Max: 2, MaxStalls: 1, Wait: time.Millisecond, Jitter: 1, MaxRetryAfter: 10 * time.Millisecond,
		})
	}
	s.idle = func() {
		for _, c := range clients {
			c.Close()
		}
	}
	// A first answer, so that a refusal is not taken for one of the stream's options.
	s.call(t.Context(), t, soakClean)
	return s
}

// fault spoils a request at the server.
func (s *soak) fault(r llmtest.Request) llmtest.Fault {
	f := soakFault(r.Seed)
	if o := r.StreamOptions; r.Model == soakRefused && o != (llmtest.StreamOptions{}) {
		f = "400 stream_options"
		if o.ContinuousUsage {
			f = "400 continuous_usage_stats"
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.met[r.Seed] = append(s.met[r.Seed], f)
	return f
}

// route sends what is going to hang to a client with short limits and all else to one with none to
// speak of: no answer comes just as a limit passes, when either side could be right about it.
func (s *soak) route(patient, hasty llm.LLM) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		seed := req.Seed
		s.mu.Lock()
		req.Seed = tagged(seed, s.tries[seed])
		s.tries[seed]++
		s.mu.Unlock()
		l := patient
		if slices.Contains(hanging, soakFault(req.Seed)) && seed < soakBreak && !abandoned(seed) {
			l = hasty
		}
		reply, err := l.Generate(ctx, req)
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, a := range reply.Attempts {
			if a.Unsent {
				s.unsent++
				continue
			}
			s.statuses[a.Status]++
			s.ended[req.Seed] = append(s.ended[req.Seed], a.Status)
		}
		return reply, err
	})
}

func soakClient(t *testing.T, url, how string, limit time.Duration) *openai.Client {
	cfg := openai.Config{BaseURL: url, Model: llm.Model{Key: how, ActiveParams: 1e9, Timeout: time.Hour}}
	if how == soakWhole {
		cfg.Whole, cfg.Model.Timeout = true, limit
	} else {
		cfg.Stream = openai.Stream{FirstToken: limit, Silence: limit, MinRate: -1}
	}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Seeds of calls, below those of their tries.
const (
	soakTry   = 1 << 24 // what one try adds
	soakBreak = 1 << 22 // hangs in the middle at its first try: for a restart to break off
	soakClean = 1 << 23 // no fault
)

// tagged is the seed of a call's try, from 0.
func tagged(seed uint32, try int) uint32 { return seed + uint32(try)*soakTry }

// call is the inverse of tagged.
func call(tagged uint32) (seed uint32, try int) { return tagged % soakTry, int(tagged / soakTry) }

// soakKind is how a call is made.
func soakKind(seed uint32) string {
	switch {
	case seed >= soakClean:
		return soakStreamed
	case seed >= soakBreak:
		return []string{soakStreamed, soakWhole}[seed%2]
	}
	return []string{soakRefused, soakStreamed, soakWhole}[seed%3]
}

// abandoned says which calls hang until their caller gives up: some one in 75.
func abandoned(seed uint32) bool {
	return seed < soakBreak && seed%50 == 7 && soakKind(seed) != soakRefused // a refusal may come just then
}

// hanging are the faults that only a limit ends.
var hanging = []llmtest.Fault{"hang", "hang first token", "hang body", "drip"}

// soakFault spoils a share of the tries, in all ways there are.
func soakFault(tagged uint32) llmtest.Fault {
	seed, try := call(tagged)
	rng := rand.New(rand.NewPCG(uint64(seed), uint64(try)))
	faults := soakFaults(soakKind(seed))
	switch {
	case seed >= soakClean || seed >= soakBreak && try > 0:
		return ""
	case seed >= soakBreak:
		return "hang body"
	case abandoned(seed):
		return hanging[rng.IntN(len(hanging))]
	case rng.Float64() < soakShare:
		return faults[rng.IntN(len(faults))]
	}
	return ""
}

// soakFaults are the faults that a kind of call meets, beside refusals of a stream and its options.
func soakFaults(how string) []llmtest.Fault {
	return slices.DeleteFunc(llmtest.Faults(), func(f llmtest.Fault) bool {
		switch f {
		case "400 stream_options", "400 continuous_usage_stats", "400 stream":
			return true
		case "400 tools", "no call ids": // the calls have no tools
			return true
		case "duplicate chunks": // without usage in its chunks it is a broken reply, and not an answer
			return how == soakRefused
		}
		return how == soakRefused && slices.Contains(hanging, f) // likewise
	})
}

// call makes one call and checks what it came to.
func (s *soak) call(ctx context.Context, t *testing.T, seed uint32) {
	req := request
	req.Seed = seed
	reply, err := s.stacks[soakKind(seed)].Generate(ctx, req)
	for i, a := range reply.Attempts {
		if a.Latency >= soakPatience {
			t.Errorf("call %d hung: attempt %d of %d: %+v", seed, i, len(reply.Attempts), a)
		}
	}
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered++
	last := reply.Attempts[len(reply.Attempts)-1]
	want := soakText
	if last.FinishReason == "length" {
		want = soakText[:len(soakText)/2]
	}
	if last.Status != llm.OK || reply.Text != want {
		t.Errorf("call %d was answered %q, attempts %+v", seed, reply.Text, reply.Attempts)
	}
}

// round makes n calls of all kinds.
func (s *soak) round(t *testing.T, round, n int) {
	var g errgroup.Group
	g.SetLimit(2 * soakInFlight)
	for i := range n {
		seed := uint32(round*n + i)
		g.Go(func() error {
			ctx := t.Context()
			if abandoned(seed) {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, soakLimit)
				defer cancel()
			}
			s.call(ctx, t, seed)
			return nil
		})
	}
	g.Wait()
}

// settle waits until the server is done with all requests that went out: those that were given up may
// not even have been read yet.
func (s *soak) settle(t *testing.T) {
	deadline := time.Now().Add(5 * time.Minute)
	for s.srv.Stats().Calls < s.sent() && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if err := s.srv.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// restart restarts the server in the middle of calls. They are tried again only when it is back, on
// new connections: a request that is lost on its way is not one that the server could count.
func (s *soak) restart(t *testing.T, round int) {
	s.settle(t)
	s.idle()
	back := make(chan struct{})
	ctx := llm.WithTrace(t.Context(), &llm.Trace{Again: func(context.Context, llm.Request) error { <-back; return nil }})
	var g errgroup.Group
	for i := range soakBroken {
		g.Go(func() error {
			s.call(ctx, t, uint32(soakBreak+round*soakBroken+i))
			return nil
		})
	}
	for s.srv.Stats().InFlight < soakBroken && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	if err := s.srv.Restart(); err != nil {
		t.Error(err)
	}
	close(back)
	g.Wait()
}
