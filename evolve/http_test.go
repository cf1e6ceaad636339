package evolve_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// improve is a server's answer: the number it is shown and something added to it.
var improve = llmtest.Echo(func(req llmtest.Request, program string) string {
	v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
	if err != nil {
		return program
	}
	return fmt.Sprint(v + req.Rand("answer").NormFloat64())
})

// connect returns a server and a model that asks it, with the given number of calls in flight.
func connect(t testing.TB, cfg llmtest.Config, model llm.Model, inFlight int, retry llm.RetryConfig) (*llmtest.Server, llm.LLM) {
	t.Helper()
	srv := llmtest.NewServer(cfg)
	t.Cleanup(srv.Close)
	client, err := openai.New(openai.Config{Seed: true, BaseURL: srv.URL, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	return srv, llm.Retry(llm.Limit(client, inFlight), retry)
}

// sometimes makes one request in n, by seed, fail in turn in each of the ways.
func sometimes(n uint32, ways ...llmtest.Fault) func(llmtest.Request) llmtest.Fault {
	return func(r llmtest.Request) llmtest.Fault {
		if r.Seed%n != 0 {
			return ""
		}
		return ways[int(r.Seed/n+uint32(r.Occurrence))%len(ways)]
	}
}

// A greedy run over real HTTP makes exactly T·N logical calls; every attempt is in the JSON; and the
// FLOPs in it are what an independent count over that JSON gives. Calls hang in the first generation only, all at
// once. On a machine that stands still for as long as the timeout, others miss it too, and some never leave.
func TestGreedyOverHTTP(t *testing.T) {
	t.Parallel()
	model := llm.Models()[0]
	model.Timeout = 5 * time.Second
	first := map[uint32]bool{}
	for i := range 64 {
		first[evolve.ChildSeed(40, 64, 0, i)] = true
	}
	var hung atomic.Int64
	faults := sometimes(8, "", "503", "hang", "length", "no usage", "html 200")
	srv, l := connect(t, llmtest.Config{Reply: improve, Fault: func(r llmtest.Request) llmtest.Fault {
		f := faults(r)
		switch {
		case f != "hang":
		case !first[r.Seed]:
			return ""
		default:
			hung.Add(1)
		}
		return f
	}}, model, 64, llm.RetryConfig{Wait: time.Millisecond})
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: l, N: 64, Seed: 40})
	res := mustRun(t, evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 8 * 64, Stalls: -1}})
	if res.Best.Result.Score <= 0 {
		t.Errorf("nothing improved: %+v", res.Best)
	}
	data := asJSON(t, report.NewGreedy(res, report.Header{Task: "numbers", Model: model, T: 8, N: 64}, 40))
	var read recount
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if calls := read.check(t); calls != 512 {
		t.Errorf("%d logical calls, want 512", calls)
	}
	// A machine that stands still for as long as the timeout makes attempts that the server never saw.
	missed := read.timeouts - int(hung.Load())
	if seen := srv.Stats().Calls; seen > read.attempts || seen < read.attempts-missed {
		t.Errorf("the server saw %d requests, the JSON has %d attempts, of which %d may not have reached it", seen,
			read.attempts, missed)
	}
	if read.timeouts == 0 || read.errors == 0 || len(read.lengths) == 0 {
		t.Errorf("%d timeouts, %d errors, %d cut for length: the test sees too little", read.timeouts, read.errors,
			len(read.lengths))
	}
}

// recount reads a result's JSON with names of its own and counts its FLOPs anew.
type recount struct {
	Trajectory []struct {
		N        int `json:"n_children"`
		Children []struct {
			Attempts []struct {
				Status string `json:"status"`
				Usage  *struct {
					Prompt     int64 `json:"prompt_tokens"`
					Completion int64 `json:"completion_tokens"`
					Total      int64 `json:"total_tokens"`
					Details    struct {
						Cached int64 `json:"cached_tokens"`
					} `json:"prompt_tokens_details"`
				} `json:"usage"`
				Unsent    bool   `json:"unsent"`
				Finish    string `json:"finish_reason"`
				Estimated int64  `json:"estimated_output_tokens"`
			} `json:"attempts"`
		} `json:"children"`
	} `json:"trajectory"`
	FLOPs map[string]json.RawMessage `json:"flops"`

	attempts, timeouts, errors int
	lengths                    []int64
}

// check counts, compares with what the JSON says, and returns the number of logical calls that were answered. All others
// have to have missed the timeout.
func (r *recount) check(t *testing.T) (calls int) {
	var metered, unmetered, late int64 // tokens; timeouts without usage
	for _, g := range r.Trajectory {
		if g.N != len(g.Children) {
			t.Errorf("n_children is %d with %d children", g.N, len(g.Children))
		}
		for _, c := range g.Children {
			answered, missed := false, r.timeouts
			for _, a := range c.Attempts {
				r.attempts++
				answered = a.Status == "ok"
				switch {
				case a.Usage != nil:
					metered += a.Usage.Prompt - a.Usage.Details.Cached + a.Usage.Completion
					if a.Usage.Total != a.Usage.Prompt+a.Usage.Completion {
						t.Errorf("total_tokens is %d", a.Usage.Total)
					}
				case a.Status == "timeout" && !a.Unsent:
					late++
					unmetered += a.Estimated
				}
				if a.Status == "timeout" {
					r.timeouts++
				} else if strings.HasPrefix(a.Status, "error:") {
					r.errors++
				}
				if a.Finish == "length" && a.Usage != nil && a.Status == "ok" {
					r.lengths = append(r.lengths, a.Usage.Completion)
				}
			}
			if answered {
				calls++
			} else if r.timeouts == missed {
				t.Errorf("a call without a timeout was not answered: %+v", c.Attempts)
			}
		}
	}
	slices.Sort(r.lengths)
	median := int64(0)
	if n := len(r.lengths); n > 0 {
		median = (r.lengths[(n-1)/2] + r.lengths[n/2]) / 2
	}
	const twoP = 2 * 8_190_726_144
	for rule, want := range map[string]int64{
		"worst_case": twoP * (metered + unmetered), "exclude": twoP * metered, "bounded": twoP * (metered + late*median),
	} {
		var got struct {
			Total float64 `json:"total_flops"`
		}
		if err := json.Unmarshal(r.FLOPs[rule], &got); err != nil || got.Total != float64(want) {
			t.Errorf("%s: total_flops is %v, %v; counted anew %v", rule, got.Total, err, float64(want))
		}
	}
	return calls
}

// An endpoint that is not there stops the run at once, with one line that names it.
func TestRunOnDeadEndpoint(t *testing.T) {
	const url = "http://127.0.0.1:1/v1" // a port that nobody is given, as one just closed may be
	client, err := openai.New(openai.Config{Seed: true, BaseURL: url, Model: llm.Models()[0]})
	if err != nil {
		t.Fatal(err)
	}
	l := llm.Retry(llm.Limit(client, 4), llm.RetryConfig{Wait: time.Millisecond})
	g := newGreedy(t, evolve.GreedyConfig{Task: newNumbers(t, "3"), LLM: l, N: 64})
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: []evolve.Arm{g}, Budget: evolve.Budget{Calls: 512}})
	if err == nil || !llm.Unavailable(err) || !strings.Contains(err.Error(), url) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q, want one line that names %s", err, url)
	}
	if res == nil || res.Best.Result.Score != 3 || res.Calls > 16 {
		t.Errorf("result %+v", res)
	}
}

// A server that rejects the key half-way stops the run and keeps what was done.
func TestRunOnRejectedKey(t *testing.T) {
	srv, l := connect(t, llmtest.Config{Reply: improve, Fault: func(r llmtest.Request) llmtest.Fault {
		if r.Ordinal >= 40 {
			return "401"
		}
		return ""
	}}, llm.Models()[0], 4, llm.RetryConfig{Wait: time.Millisecond})
	list, err := evolve.GreedyArms(evolve.GreedyConfig{Task: newNumbers(t, "0"), LLM: l, N: 8}, 3)
	if err != nil {
		t.Fatal(err)
	}
	res, err := evolve.Run(t.Context(), evolve.Config{Arms: list, Policy: &bandit.UCB1{},
		Budget: evolve.Budget{Calls: 512}})
	var e *llm.Error
	if !errors.As(err, &e) || e.Code != 401 || !strings.Contains(err.Error(), srv.URL) {
		t.Fatalf("error %v", err)
	}
	answered := 0
	for a := range res.Attempts {
		if a.Status == llm.OK {
			answered++
		}
	}
	if answered != 40 || res.Stop != evolve.StopError {
		t.Errorf("%d answered calls in the result, want 40; stopped by %s", answered, res.Stop)
	}
}

// BenchmarkSlots measures how busy 16 model slots are, as the server sees them from the first request
// until the last one is sent, and the wall time as a ratio to the total latency over 16.
func BenchmarkSlots(b *testing.B) {
	steady := evolve.GreedyConfig{N: 512, Window: 64, Order: evolve.AsTheyEnd}
	for _, bm := range []struct {
		name           string
		latency        llmtest.Latency
		cfg            evolve.GreedyConfig
		arms, inFlight int
	}{
		{"greedy/constant", llmtest.Constant(50 * time.Millisecond), evolve.GreedyConfig{N: 64}, 1, 1},
		{"greedy/heavy/barrier", heavyTail, evolve.GreedyConfig{N: 64}, 1, 1},
		{"greedy/heavy/window=64", heavyTail, steady, 1, 1},
		{"bandit/heavy/in-flight=1", heavyTail, evolve.GreedyConfig{N: 64}, 10, 1},
		{"bandit/heavy/in-flight=4", heavyTail, evolve.GreedyConfig{N: 64}, 10, 4},
	} {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				slots(b, bm.latency, bm.cfg, bm.arms, bm.inFlight)
			}
		})
	}
}

func slots(b *testing.B, latency llmtest.Latency, cfg evolve.GreedyConfig, k, inFlight int) {
	const calls, places = 8 * 64, 16
	srv, l := connect(b, llmtest.Config{Reply: improve, Latency: latency}, llm.Models()[0], places, llm.RetryConfig{})
	cfg.Task, cfg.LLM, cfg.Seed = newNumbers(b, "0"), l, 40
	list, err := evolve.GreedyArms(cfg, k)
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	mustRun(b, evolve.Config{Arms: list, Policy: &bandit.UCB1{}, InFlight: inFlight, Budget: evolve.Budget{Calls: calls}})
	wall := time.Since(begin)
	s := srv.Stats()
	if s.Calls != calls {
		b.Fatalf("%d calls, want %d", s.Calls, calls)
	}
	ideal := cmp.Or(s.Latency, 1) / places
	b.ReportMetric(s.Busy, "busy-slots")
	b.ReportMetric(wall.Seconds(), "wall-s")
	b.ReportMetric(wall.Seconds()/ideal.Seconds(), "wall/ideal")
}
