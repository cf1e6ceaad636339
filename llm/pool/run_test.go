package pool_test

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/pool"
	"github.com/evoalloc/evoalloc/task"
)

// These tests play whole runs of package evolve on servers that are simulated, in virtual time.

// longPrograms is a task whose programs begin with a number, their score, and go on for 4 KB that
// depend on it, so that the prompts of two parents have only the system message in common.
func longPrograms(t *testing.T) task.Task {
	tk, err := task.New(task.Spec{
		Name: "long", Language: "text", System: strings.Repeat("Write a program whose number is larger. ", 20),
		Initial: longProgram(0),
		Evaluator: eval.Func(func(_ context.Context, program string) (eval.Result, error) {
			line, _, _ := strings.Cut(program, "\n")
			v, err := strconv.ParseFloat(line, 64)
			if err != nil {
				return eval.Invalid("not a number: %q", line), nil
			}
			return eval.Result{Score: v, Valid: true}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

func longProgram(v float64) string {
	return fmt.Sprint(v) + strings.Repeat(fmt.Sprintf("\nline %v", v), 4096/(7+len(fmt.Sprint(v))))
}

// prefixCache counts the tokens of a prompt, four bytes each, that stand in whole blocks of 16 at its
// beginning that were seen before. It forgets the blocks used longest ago beyond its capacity.
type prefixCache struct {
	capacity int
	seed     maphash.Seed
	blocks   map[uint64]*list.Element
	used     list.List
}

func (c *prefixCache) prompt(req llm.Request) (tokens, cached int) {
	if c.blocks == nil {
		c.blocks, c.seed = make(map[uint64]*list.Element), maphash.MakeSeed()
	}
	var text strings.Builder
	for _, m := range req.Messages {
		text.WriteString(m.Role + "\x00" + m.Content + "\x00")
	}
	var h maphash.Hash
	h.SetSeed(c.seed)
	hit := true
	for b := text.String(); len(b) >= 64; b = b[64:] {
		h.WriteString(b[:64]) // with all before it: a block is known by its whole prefix
		at, ok := c.blocks[h.Sum64()]
		if hit = hit && ok; hit {
			cached += 16
		}
		if ok {
			c.used.MoveToFront(at)
		} else {
			c.blocks[h.Sum64()] = c.used.PushFront(h.Sum64())
		}
	}
	for c.used.Len() > c.capacity {
		delete(c.blocks, c.used.Remove(c.used.Back()).(uint64))
	}
	return text.Len() / 4, cached
}

// server is a simulated inference server with a client that notices when nothing comes for a while.
type server struct {
	mu           sync.Mutex
	cache        prefixCache
	calls        int
	hangs, until time.Time     // nothing comes between these
	died         chan struct{} // closed when it dies; nil means never
	silence      time.Duration // until the client takes the call for stalled
}

func (s *server) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	select {
	case <-s.died:
		return end(llm.Attempt{}, errRefused)
	default:
	}
	s.mu.Lock()
	s.calls++
	prompt, cached := s.cache.prompt(req)
	s.mu.Unlock()
	u := llm.Usage{PromptTokens: prompt, CachedTokens: cached, CompletionTokens: 100 + int(req.Seed%400)}
	took := time.Duration(prompt-cached)*100*time.Microsecond + time.Duration(u.CompletionTokens)*10*time.Millisecond
	now := time.Now()
	finish := now.Add(took)
	if finish.After(s.hangs) && now.Before(s.until) { // it comes to stand still on the way
		from := s.hangs
		if now.After(from) {
			from = now
		}
		if s.until.Sub(from) > s.silence {
			return s.wait(ctx, from.Add(s.silence), llm.Attempt{Streamed: 7}, errStall)
		}
		finish = finish.Add(s.until.Sub(from))
	}
	reply, err := s.wait(ctx, finish, llm.Attempt{Usage: &u, FinishReason: "stop"}, nil)
	if err == nil {
		reply.Text = "```text\n" + answer(req) + "\n```"
	}
	return reply, err
}

// wait ends the attempt with err at the given time, unless something else happens before.
func (s *server) wait(ctx context.Context, at time.Time, a llm.Attempt, err error) (llm.Reply, error) {
	select {
	case <-time.After(time.Until(at)):
		return end(a, err)
	case <-s.died:
		return end(llm.Attempt{}, failed(llm.KindConnection))
	case <-ctx.Done():
		return end(llm.Attempt{}, &llm.Error{Status: llm.Canceled, Err: ctx.Err()})
	}
}

func end(a llm.Attempt, err error) (llm.Reply, error) {
	a.Status, a.MaxTokens = llm.StatusOf(err), 500
	if e, ok := errors.AsType[*llm.Error](err); ok {
		a.Kind, a.Err = e.Kind, e.Err.Error()
	}
	return llm.Reply{Attempts: []llm.Attempt{a}}, err
}

// answer improves the number in the prompt in one of ten.
func answer(req llm.Request) string {
	program, err := task.ParseProgram(req.Messages[len(req.Messages)-1].Content, "text")
	if err != nil {
		panic(err)
	}
	line, _, _ := strings.Cut(program, "\n")
	v, err := strconv.ParseFloat(line, 64)
	if err != nil {
		panic(err)
	}
	if req.Seed%10 != 0 {
		return longProgram(v - 1)
	}
	return longProgram(v + float64(req.Seed%1000)/1e5)
}

// A fleet is a way to use servers.
type fleet struct {
	name    string
	servers int
	join    func(t *testing.T, servers []*server) llm.LLM
}

func pooled(t *testing.T, servers []*server) llm.LLM {
	var cfg pool.Config
	for i, s := range servers {
		cfg.Endpoints = append(cfg.Endpoints, pool.Endpoint{Name: fmt.Sprint("gpu", i), LLM: s})
	}
	p, err := pool.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func roundRobin(_ *testing.T, servers []*server) llm.LLM {
	var n atomic.Int64
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		return servers[int(n.Add(1))%len(servers)].Generate(ctx, req)
	})
}

// served plays a run with the fleet and returns the share of prompt tokens that came from a cache,
// the least share of the calls that a server had, and how long the run took.
func (f fleet) served(t *testing.T, capacity int, run func(*testing.T, llm.LLM) []llm.Attempt) (hits, least float64, took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		servers := make([]*server, f.servers)
		for i := range servers {
			servers[i] = &server{cache: prefixCache{capacity: capacity}}
		}
		start := time.Now()
		attempts := run(t, llm.Limit(f.join(t, servers), 16))
		took = time.Since(start)
		var prompt, cached int
		for _, a := range attempts {
			prompt, cached = prompt+a.Usage.PromptTokens, cached+a.Usage.CachedTokens
		}
		hits, least = float64(cached)/float64(prompt), 1
		for _, s := range servers {
			least = min(least, float64(s.calls)/float64(len(attempts)))
		}
	})
	return hits, least, took
}

func greedyRun(n, generations int) func(*testing.T, llm.LLM) []llm.Attempt {
	return func(t *testing.T, l llm.LLM) (attempts []llm.Attempt) {
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: longPrograms(t), LLM: l, N: n, Seed: 40})
		if err != nil {
			t.Fatal(err)
		}
		for range generations {
			gen, err := g.Step(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range gen.Children {
				attempts = append(attempts, c.Attempts...)
			}
		}
		return attempts
	}
}

func banditRun(n, generations, inFlight int) func(*testing.T, llm.LLM) []llm.Attempt {
	return func(t *testing.T, l llm.LLM) (attempts []llm.Attempt) {
		var mu sync.Mutex
		arms, err := evolve.GreedyArms(evolve.GreedyConfig{Task: longPrograms(t), LLM: l, N: n, Seed: 40}, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range arms {
			a.(*evolve.Greedy).OnChild = func(c evolve.Child) {
				mu.Lock()
				defer mu.Unlock()
				attempts = append(attempts, c.Attempts...)
			}
		}
		_, err = evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{}, InFlight: inFlight,
			Budget: evolve.Budget{Calls: n * generations}})
		if err != nil {
			t.Fatal(err)
		}
		return attempts
	}
}

// Two replicas with affinity serve at least 95 % of what one alone would from its cache, with both at work, and 90 %
// where one small generation at a time is in flight, which both make together. Where several arms with few children each
// are in flight, chance may give most of them to one replica, calls that find it loaded go to the other, and its first
// sight of the prompt weighs more; which calls those are depends on how goroutines are scheduled.
func TestPoolKeepsPrefixCachesWarm(t *testing.T) {
	fleets := []fleet{{"alone", 1, pooled}, {"affinity", 2, pooled}, {"round robin", 2, roundRobin}}
	const prompt = 90 // blocks of a prompt, about
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "run\tprompts that fit\tone alone\taffinity\tround robin\tleast used\ttime alone\twith affinity\t")
	for _, tt := range notrun.Few([]struct {
		name string
		run  func(*testing.T, llm.LLM) []llm.Attempt
		fit  int // how many prompts a cache holds
		// floor is the least share of what one replica alone serves from its cache.
		floor float64
	}{
		{"greedy, N=64", greedyRun(64, 8), 1000, 0.95},
		{"greedy, N=64", greedyRun(64, 8), 4, 0.95},
		{"greedy, N=16", greedyRun(16, 16), 1000, 0.95},
		{"10 arms, N=64", banditRun(64, 16, 1), 1000, 0.95},
		{"10 arms, N=64", banditRun(64, 16, 1), 4, 0.95},
		{"10 arms, 4 in flight, N=64", banditRun(64, 16, 4), 1000, 0.95},
		{"10 arms, 4 in flight, N=64", banditRun(64, 16, 4), 4, 0.95},
		{"10 arms, N=8", banditRun(8, 64, 1), 1000, 0.9},
		{"10 arms, N=8", banditRun(8, 64, 1), 6, 0.9},
		{"10 arms, 4 in flight, N=4", banditRun(4, 96, 4), 1000, 0.85},
		{"10 arms, 4 in flight, N=4", banditRun(4, 96, 4), 6, 0.85},
		{"10 arms, 10 in flight, N=2", banditRun(2, 128, 10), 1000, 0.9},
		{"10 arms, 10 in flight, N=2", banditRun(2, 128, 10), 6, 0.9},
	}, 1, 6, 11) {
		var hits [3]float64
		var took [3]time.Duration
		var least float64
		for i, f := range fleets {
			var share float64
			hits[i], share, took[i] = f.served(t, tt.fit*prompt, tt.run)
			if f.name == "affinity" {
				least = share
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%.1f%%\t%.1f%%\t%.1f%%\t%.0f%%\t%v\t%v\t\n", tt.name, tt.fit,
			100*hits[0], 100*hits[1], 100*hits[2], 100*least, took[0].Round(time.Second), took[1].Round(time.Second))
		if hits[1] < tt.floor*hits[0] {
			t.Errorf("%s, %d prompts fit: %.3f of the prompt tokens from cache, less than %v of %.3f", tt.name, tt.fit, hits[1],
				tt.floor, hits[0])
		}
		if least < 0.2 {
			t.Errorf("%s, %d prompts fit: a replica served only %.2f of the calls", tt.name, tt.fit, least)
		}
	}
	w.Flush()
	t.Logf("share of the prompt tokens served from cache:\n%s", &out)
}

// outageFleet is three servers, of which the first dies after 60 s and the second stands still for 30 s
// after 120 s, each seen through a client that takes 5 s of silence for a stall.
func outageFleet() []*server {
	const second = time.Second
	start := time.Now()
	servers := make([]*server, 3)
	for i := range servers {
		servers[i] = &server{cache: prefixCache{capacity: 1 << 20}, silence: 5 * second}
	}
	servers[0].died = make(chan struct{})
	time.AfterFunc(60*second, func() { close(servers[0].died) })
	servers[1].hangs, servers[1].until = start.Add(120*second), start.Add(150*second)
	return servers
}

// timeline counts answers in each ten seconds, and notes how the pool's endpoints are at the end of it.
type timeline struct {
	pool     *pool.Pool
	start    time.Time
	answered [30]atomic.Int64
	health   [30]string
}

func (l *timeline) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	reply, err := l.pool.Generate(ctx, req)
	if err == nil {
		l.answered[int(time.Since(l.start)/(10*time.Second))].Add(1)
	}
	return reply, err
}

func (l *timeline) watch(ctx context.Context) {
	for i := range l.health {
		select {
		case <-time.After(10 * time.Second):
		case <-ctx.Done():
			return
		}
		for _, e := range l.pool.Report().Endpoints {
			l.health[i] += fmt.Sprintf("  %s %s, %d in flight", e.Name, e.Health, e.InFlight)
		}
	}
}

// rates returns the answers a second in each ten seconds, and prints them.
func (l *timeline) rates(t *testing.T) (rates []float64) {
	for i := range int(time.Since(l.start) / (10 * time.Second)) {
		rates = append(rates, float64(l.answered[i].Load())/10)
		t.Logf("%3d s: %.1f answers a second%s", 10*(i+1), rates[i], l.health[i])
	}
	report := l.pool.Report()
	for _, e := range report.Events {
		t.Logf("%3.0f s: %s %s %s", e.At.Sub(l.start).Seconds(), e.Endpoint, e.Event, e.Why)
	}
	t.Log(report)
	return rates
}

// One of three replicas dies, another stands still for 30 s and comes back: no child is lost, and the
// run is as fast again as two replicas are.
func TestPoolOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := pool.Config{Slots: 8}
		for i, s := range outageFleet() {
			cfg.Endpoints = append(cfg.Endpoints, pool.Endpoint{Name: fmt.Sprint("gpu", i), LLM: s})
		}
		p, err := pool.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		line := &timeline{pool: p, start: time.Now()}
		ctx, stop := context.WithCancel(t.Context())
		var watch sync.WaitGroup
		watch.Go(func() { line.watch(ctx) })
		children := playOutage(t, llm.Limit(line, 24))
		stop()
		watch.Wait()
		rates := line.rates(t)
		t.Logf("%d children", children)
		before, during, after := mean(rates[7:12]), mean(rates[12:15]), mean(rates[18:22])
		if after < 0.8*before || during < 0.35*before {
			t.Errorf("%.2f answers a second before the stall, %.2f during it, %.2f after it", before, during, after)
		}
	})
}

// playOutage lets four searches make generations side by side for four minutes and returns the number of children,
// all of which must have been scored: some replica was well at every time. A single search would wait with all its
// slots for the last child of a generation, so that its speed during the stall would depend on the instant at which a
// generation ends.
func playOutage(t *testing.T, l llm.LLM) int {
	start := time.Now()
	var children atomic.Int64
	var searches sync.WaitGroup
	for seed := range uint32(4) {
		g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: longPrograms(t), LLM: l, N: 16, Seed: 40 + seed})
		if err != nil {
			t.Fatal(err)
		}
		searches.Go(func() {
			for time.Since(start) < 4*time.Minute {
				gen, err := g.Step(t.Context(), nil)
				if err != nil || len(gen.Children) != 16 {
					t.Errorf("generation of %d children: %v", len(gen.Children), err)
					return
				}
				children.Add(int64(len(gen.Children)))
				for _, c := range gen.Children {
					if n := len(c.Attempts); n == 0 || c.Attempts[n-1].Status != llm.OK || !c.Result.Valid || c.Err != "" {
						t.Errorf("child %d of generation %d: %s, %q", c.Index, gen.Index, endpointsOf(c.Attempts), c.Err)
					}
				}
			}
		})
	}
	searches.Wait()
	return int(children.Load())
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}
