package openai_test

import (
	"context"
	"flag"
	"maps"
	"math/rand/v2"
	"net/http/httptrace"
	"slices"
	"sync"
	"sync/atomic"
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
	soakLimit    = time.Second      // of clients that meet an attempt that hangs
	soakPatience = 10 * time.Second // of all others
	soakInFlight = 64               // of each kind of call
	soakBroken   = 16               // calls that each restart breaks off
	soakShare    = 0.3              // of the attempts go wrong
)

// The ways to make a call in the soak, which are the names of its models.
const (
	soakStreamed = "streamed" // usage as it goes
	soakRefused  = "refused"  // a stream whose options the endpoint does not know
	soakWhole    = "whole"    // not streamed
)

// A soak makes calls under a mix of all faults, and counts what becomes of their attempts.
type soak struct {
	srv    *llmtest.Server
	stacks map[string]llm.LLM
	idle   func() // closes idle connections

	written atomic.Int64 // requests that went out

	mu       sync.Mutex
	sent     map[uint32]int // of them, by seed
	statuses map[llm.Status]int
	answered int
	gaveUp   map[uint32]int // attempts that were given up, by seed
	unsent   int            // attempts whose limit passed before the request went out: the server cannot know of them
}

// soakRounds is how often the server is restarted.
func soakRounds() int { return min(4, 1+*soakCalls/1000) }

// TestSoak compares the attempts by status with what the server saw, under all faults at once,
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
	e := stats.Ended
	t.Logf("%d calls, %d answered, %d attempts: %v, %d of them not sent; the server: %v", *soakCalls, s.answered, stats.Calls, s.statuses, s.unsent, e)
	server := map[string]int{
		"an answer": e[llmtest.Answered],
		"a failure": e[llmtest.Refused] + e[llmtest.Spoiled] + e[llmtest.BrokenOff],
		"given up":  e[llmtest.Left],
	}
	client := map[string]int{
		"an answer": s.statuses[llm.OK],
		"a failure": s.statuses[llm.Failed],
		"given up":  s.statuses[llm.Stalled] + s.statuses[llm.Timeout] + s.statuses[llm.Canceled] - s.unsent,
	}
	if diff := gocmp.Diff(server, client); diff != "" {
		t.Errorf("attempts (-server +client):\n%s", diff)
	}
	total := 0
	for n := range maps.Values(s.statuses) {
		total += n
	}
	if total-s.unsent != stats.Calls || stats.InFlight != 0 || s.statuses[llm.OK] != s.answered {
		t.Errorf("%d attempts, %d calls with an answer; the server saw %d requests, %d still in flight", total, s.answered, stats.Calls, stats.InFlight)
	}
	left := map[uint32]int{}
	for _, d := range stats.Gone {
		left[d.Seed]++
	}
	if diff := gocmp.Diff(left, s.gaveUp); diff != "" && s.unsent == 0 {
		t.Errorf("attempts given up, by seed (-server +client):\n%s", diff)
	}
	s.wantAll(t, stats)
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
	s := &soak{stacks: map[string]llm.LLM{}, sent: map[uint32]int{}, statuses: map[llm.Status]int{}, gaveUp: map[uint32]int{}}
	s.srv = serve(t, llmtest.Config{
		Reply: say("function f() { return [0.5, 0.25]; }"), Drip: time.Hour, RetryAfter: time.Second,
		Fault: func(r llmtest.Request) llmtest.Fault {
			if r.Model == soakRefused && r.StreamOptions != (llmtest.StreamOptions{}) {
				return optionFault(r.StreamOptions)
			}
			return soakFault(r.Model, r.Seed, r.Occurrence)
		},
	})
	var clients []*openai.Client
	for _, how := range []string{soakStreamed, soakRefused, soakWhole} {
		patient, hasty := soakClient(t, s.srv.URL, how, soakPatience), soakClient(t, s.srv.URL, how, soakLimit)
		clients = append(clients, patient, hasty)
		s.stacks[how] = llm.Retry(llm.Limit(s.route(how, patient, hasty), soakInFlight), llm.RetryConfig{
			Max: 2, MaxStalls: 1, Wait: time.Millisecond, Jitter: 1, MaxRetryAfter: 10 * time.Millisecond,
		})
	}
	s.idle = func() {
		for _, c := range clients {
			c.Close()
		}
	}
	// A first answer, so that a refusal is not taken for one of the stream's options.
	s.call(t.Context(), t, soakStreamed, soakClean)
	return s
}

// route sends what is going to hang to a client with short limits and all else to one with none to
// speak of: no answer comes just as a limit passes, when either side could be right about it.
func (s *soak) route(how string, patient, hasty llm.LLM) llm.LLM {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		var written atomic.Int64
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				written.Add(1)
				s.written.Add(1)
			}
		}})
		l := patient
		if s.hangs(how, req.Seed) {
			l = hasty
		}
		reply, err := l.Generate(ctx, req)
		s.mu.Lock()
		defer s.mu.Unlock()
		n := int(written.Load())
		s.sent[req.Seed] += n
		s.unsent += len(reply.Attempts) - n
		return reply, err
	})
}

// hangs says what the server is going to do with the next request of this seed.
func (s *soak) hangs(how string, seed uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := soakFault(how, seed, s.sent[seed])
	return slices.Contains(hanging, f) && seed < soakBreak && !abandoned(seed)
}

func soakClient(t *testing.T, url, how string, limit time.Duration) *openai.Client {
	cfg := openai.Config{BaseURL: url, Model: llm.Model{Key: how, ActiveParams: 1e9, Timeout: time.Hour}}
	if how == soakWhole {
		cfg.Model.Timeout = limit
	} else {
		cfg.Stream = &openai.Stream{FirstToken: limit, Silence: limit, MinRate: -1}
	}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Seeds with a meaning for soakFault.
const (
	soakClean = 1 << 30 // no fault
	soakBreak = 1 << 29 // hangs in the middle, once: for a restart to break off
)

// abandoned says which calls hang until their caller gives up: one in fifty.
func abandoned(seed uint32) bool { return seed < soakBreak && seed%50 == 7 }

// hanging are the faults that only a limit ends.
var hanging = []llmtest.Fault{llmtest.Hang, llmtest.HangFirst, llmtest.HangBody, llmtest.Drip}

// soakFault spoils a share of the requests, in all ways there are: the n-th with this seed, from 0.
func soakFault(how string, seed uint32, n int) llmtest.Fault {
	rng := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
	faults := soakFaults(how)
	switch {
	case seed >= soakClean || seed >= soakBreak && n > 0:
		return llmtest.None
	case seed >= soakBreak:
		return llmtest.HangBody
	case abandoned(seed):
		return llmtest.Hang
	case rng.Float64() < soakShare:
		return faults[rng.IntN(len(faults))]
	}
	return llmtest.None
}

// soakFaults are the faults that a kind of call meets.
func soakFaults(how string) []llmtest.Fault {
	return slices.DeleteFunc(llmtest.Faults(), func(f llmtest.Fault) bool {
		switch f {
		case llmtest.NoStreamOptions, llmtest.NoContinuousUsage:
			return true // optionFault's
		case llmtest.Duplicate: // without usage in its chunks it is a broken reply, and not an answer
			return how == soakRefused
		}
		return how == soakRefused && slices.Contains(hanging, f) // how many requests it sends is not known before
	})
}

func optionFault(o llmtest.StreamOptions) llmtest.Fault {
	if o.ContinuousUsage {
		return llmtest.NoContinuousUsage
	}
	return llmtest.NoStreamOptions
}

// call makes one call and counts its attempts.
func (s *soak) call(ctx context.Context, t *testing.T, how string, seed uint32) {
	req := request
	req.Seed = seed
	reply, err := s.stacks[how].Generate(ctx, req)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, a := range reply.Attempts {
		s.statuses[a.Status]++
		if a.Status != llm.OK && a.Status != llm.Failed {
			s.gaveUp[seed]++
		}
		if a.Latency > soakPatience/2 {
			t.Errorf("%s call %d hung: attempt %d of %d: %+v", how, seed, i, len(reply.Attempts), a)
		}
	}
	if n := len(reply.Attempts); err == nil {
		s.answered++
		if n == 0 || reply.Attempts[n-1].Status != llm.OK {
			t.Errorf("an answer, and attempts %+v", reply.Attempts)
		}
	}
}

// round makes n calls of each kind in turn.
func (s *soak) round(t *testing.T, round, n int) {
	hows := []string{soakRefused, soakStreamed, soakWhole}
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
			s.call(ctx, t, hows[i%len(hows)], seed)
			return nil
		})
	}
	g.Wait()
}

// settle waits until the server is done with all requests that went out: those that were given up may
// not even have been read yet.
func (s *soak) settle(t *testing.T) {
	deadline := time.Now().Add(30 * time.Second)
	for s.srv.Stats().Calls < int(s.written.Load()) && time.Now().Before(deadline) {
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
	ctx := llm.WithGate(t.Context(), func(context.Context, llm.Request) error { <-back; return nil })
	var g errgroup.Group
	for i := range soakBroken {
		g.Go(func() error {
			how := []string{soakStreamed, soakWhole}[i%2]
			s.call(ctx, t, how, uint32(soakBreak+round*soakBroken+i))
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
