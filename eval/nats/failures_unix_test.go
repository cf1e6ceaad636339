//go:build unix

package nats_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// A fleet is some worker processes. One that ends is started again, as a service manager does.
type fleet struct {
	t     *testing.T
	log   string
	mu    sync.Mutex
	procs []*os.Process
	ended bool
	all   sync.WaitGroup
}

func newFleet(t *testing.T, url string, n int) *fleet {
	f := &fleet{t: t, log: filepath.Join(t.TempDir(), "log"), procs: make([]*os.Process, n)}
	for i := range n {
		f.all.Go(func() {
			for f.once(i, url) {
			}
		})
	}
	t.Cleanup(func() {
		f.mu.Lock()
		f.ended = true
		f.mu.Unlock()
		f.kill(0, 1, 2, 3)
		f.all.Wait()
	})
	until(t, "the workers are started", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, p := range f.procs {
			if p == nil {
				return false
			}
		}
		return true
	})
	return f
}

// once runs a worker until it ends. It reports whether another is to be started.
func (f *fleet) once(i int, url string) bool {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asWorkerOf+"="+url, logsTo+"="+f.log)
	in, err := cmd.StdinPipe() // which ends with this process
	if err != nil {
		f.t.Error(err)
		return false
	}
	defer in.Close()
	f.mu.Lock()
	if f.ended {
		f.mu.Unlock()
		return false
	}
	err = cmd.Start()
	f.procs[i] = cmd.Process
	f.mu.Unlock()
	if err != nil {
		f.t.Error(err)
		return false
	}
	cmd.Wait()
	return true
}

func (f *fleet) signal(s syscall.Signal, which ...int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range which {
		if i < len(f.procs) && f.procs[i] != nil {
			f.procs[i].Signal(s)
		}
	}
}

func (f *fleet) kill(which ...int) { f.signal(syscall.SIGKILL, which...) }

// evaluated returns how often each program was evaluated to the end.
func (f *fleet) evaluated() map[string]int {
	text, _ := os.ReadFile(f.log)
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		counts[strings.TrimSpace(line)]++
	}
	return counts
}

// again returns how many evaluations were made more than once.
func (f *fleet) again() (n int) {
	for _, count := range f.evaluated() {
		n += count - 1
	}
	return n
}

// span returns how long a failure goes on.
func span(short time.Duration) time.Duration {
	if *long {
		return time.Minute
	}
	return short
}

// stream evaluates new programs, some at once, until stop is closed, and returns how many. Each has to have its score.
func stream(t *testing.T, e eval.Evaluator, stop <-chan bool) int {
	t.Helper()
	var n atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				program := fmt.Sprintf("program %d", n.Add(1))
				r, err := e.Evaluate(t.Context(), program)
				if err != nil || r.Score != float64(len(program)) {
					t.Errorf("%q: %+v, %v", program, r, err)
					return
				}
			}
		})
	}
	all.Wait()
	return int(n.Load())
}

// goOn waits until the workers have evaluated some more programs.
func (f *fleet) goOn() {
	f.t.Helper()
	before := len(f.evaluated())
	until(f.t, "the workers evaluate programs", func() bool { return len(f.evaluated()) > before+20 })
}

// during has programs evaluated while trouble goes on, and some before and after it. It returns how many.
func (f *fleet) during(e eval.Evaluator, trouble func()) (n int) {
	f.t.Helper()
	stop := make(chan bool)
	var all sync.WaitGroup
	all.Go(func() { n = stream(f.t, e, stop) })
	func() {
		defer all.Wait()
		defer close(stop)
		f.goOn()
		trouble()
		f.goOn()
	}()
	return n
}

// checkAll checks that the workers evaluated all of n programs. With -long it checks as well that at most so many were
// evaluated again, on a machine that does nothing else: on a busy one, workers that live are silent for too long.
func (f *fleet) checkAll(n, again int) {
	f.t.Helper()
	if got := len(f.evaluated()); got != n {
		f.t.Errorf("%d programs were evaluated of %d", got, n)
	}
	if got := f.again(); got > again && *long {
		f.t.Errorf("%d evaluations were made again, of %d programs: want at most %d", got, n, again)
	}
	f.t.Logf("%d programs, %d evaluations made again", n, f.again())
}

// quick is for runs whose workers die: a job is taken from one that is silent for two seconds.
func quick(url string) nats.Config {
	return nats.Config{Server: nats.Server{URL: url}, Lost: 2 * time.Second, Deaths: 20, Unserved: time.Minute}
}

// A worker that is killed has at most its two slots' evaluations between their end and the storing of their results.
func TestWorkersAreKilled(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	f := newFleet(t, s.URL(), 4)
	e := run(t, quick(s.URL()))
	r, kills, every := rand.New(rand.NewPCG(1, 2)), 0, 500*time.Millisecond
	if *long {
		every = time.Second
	}
	n := f.during(e, func() {
		for end := time.Now().Add(span(2 * time.Second)); time.Now().Before(end); kills++ {
			time.Sleep(every)
			f.kill(r.IntN(4))
		}
	})
	f.checkAll(n, 2*kills+8)
}

func TestAllWorkersAreKilledAtOnce(t *testing.T) {
	skipUnlessLong(t, "TestWorkersAreKilled")
	t.Parallel()
	s := start(t, embedded.Config{})
	f := newFleet(t, s.URL(), 4)
	e := run(t, quick(s.URL()))
	n := f.during(e, func() {
		time.Sleep(span(time.Second))
		f.kill(0, 1, 2, 3)
		time.Sleep(span(time.Second))
	})
	f.checkAll(n, 16)
}

// A worker that is stopped for longer than Lost loses its jobs. When it goes on, its results change nothing.
func TestAWorkerIsStoppedAndComesBack(t *testing.T) {
	skipUnlessLong(t, "TestTheNetworkIsCut, where workers are silent, and TestALateLargeResultChangesNothing")
	t.Parallel()
	s := start(t, embedded.Config{})
	f := newFleet(t, s.URL(), 4)
	e := run(t, quick(s.URL()))
	n := f.during(e, func() {
		time.Sleep(1500 * time.Millisecond)
		f.signal(syscall.SIGSTOP, 0, 1)
		time.Sleep(span(3500 * time.Millisecond))
		f.signal(syscall.SIGCONT, 0, 1)
		time.Sleep(time.Second)
	})
	f.checkAll(n, 12)
}

// A program that ends the worker is invalid after some, and the others have their scores.
func TestAProgramEndsWorkers(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	newFleet(t, s.URL(), 2)
	cfg := quick(s.URL())
	cfg.Deaths = 2
	e := run(t, cfg)
	r, err := e.Evaluate(t.Context(), "die")
	if err != nil || r.Valid || !strings.Contains(r.Reason, "workers in a row") {
		t.Errorf("%+v, %v", r, err)
	}
	each(t, e, 10, "program")
}

// Programs that end their workers take nobody with them: those that were evaluated beside them have their scores,
// however few deaths make a program invalid.
func TestProgramsBesideOneThatEndsWorkers(t *testing.T) {
	t.Parallel()
	killers, innocents := 1, 6
	if *long {
		killers, innocents = 7, 160
	}
	s := start(t, embedded.Config{})
	newFleet(t, s.URL(), 2)
	cfg := quick(s.URL())
	cfg.Deaths, cfg.Lost = 1, 5*time.Second // no worker of an innocent program is to be silent for so long
	e := run(t, cfg)
	var condemned atomic.Int64
	var all sync.WaitGroup
	for i := range killers {
		all.Go(func() {
			r, err := e.Evaluate(t.Context(), fmt.Sprint("die late ", i))
			if err != nil || r.Valid || !strings.Contains(r.Reason, "workers in a row") {
				t.Errorf("one that ends workers: %+v, %v", r, err)
			}
		})
	}
	for i := range innocents {
		all.Go(func() {
			program := fmt.Sprint("slow ", i)
			r, err := e.Evaluate(t.Context(), program)
			if err != nil || !r.Valid {
				condemned.Add(1)
				t.Errorf("%s: %+v, %v", program, r, err)
			}
		})
	}
	all.Wait()
	t.Logf("%d of %d innocent programs are invalid beside %d that end their workers", condemned.Load(), innocents, killers)
}

// A run that is killed and goes on pays for nothing twice.
func TestTheRunIsKilledAndGoesOn(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{})
	f := newFleet(t, s.URL(), 4)
	cfg := quick(s.URL())
	cfg.Lost = time.Minute // the workers live, and none is to be taken for dead on a busy machine
	cfg.Run, cfg.Task, cfg.Logger = "run.journal", cp, slog.New(slog.DiscardHandler)
	first, err := nats.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var programs []string
	for i := range 200 {
		programs = append(programs, fmt.Sprintf("program %d", i))
	}
	nats.Queue(t, first, programs...)
	until(t, "some are evaluated", func() bool { return len(f.evaluated()) > 20 })
	nats.Kill(first)
	each(t, run(t, cfg), 200, "program")
	f.checkAll(200, 0)
	if n := f.again(); n != 0 {
		t.Errorf("%d evaluations were made again", n)
	}
}

// A server that is killed and started again has the jobs and the results of before. An evaluation that ended meanwhile
// waits at its worker.
func TestTheServerIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serverProcess(t, dir)
	c := newCut(t, s.line) // which keeps its port
	f := newFleet(t, c.url(), 4)
	e := run(t, quick(c.url()))
	n := f.during(e, func() {
		s.kill()
		time.Sleep(span(time.Second))
		c.lead(serverProcess(t, dir).line)
	})
	f.checkAll(n, 32) // of those under way, taken from workers that were silent, and from those told twice
}

// A cut is a proxy that can stop to pass on what comes.
type cut struct {
	l    net.Listener
	mu   sync.Mutex
	to   string        // URL of the server
	dead chan struct{} // closed when the connections of before are lost
	open chan struct{} // closed while it passes on
}

func newCut(t *testing.T, to string) *cut {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cut{l: l, dead: make(chan struct{}), open: make(chan struct{})}
	c.lead(to)
	close(c.open)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { c.pass(in) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		c.mu.Lock()
		close(c.dead) // for good, also for a connection that was accepted just now
		c.mu.Unlock()
		all.Wait()
	})
	return c
}

func (c *cut) url() string {
	to, _, _ := c.state()
	return through(to, c.l)
}

// lead has new connections lead to the server at url.
func (c *cut) lead(url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = url
}

func (c *cut) state() (to string, dead, open chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.to, c.dead, c.open
}

// pass passes on until the connections are lost. What comes during a cut is dropped, and so are the connections then.
func (c *cut) pass(in net.Conn) {
	to, dead, open := c.state()
	select {
	case <-open:
	case <-dead:
		in.Close()
		return
	}
	out, err := net.Dial("tcp", address(to))
	if err != nil {
		in.Close()
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			defer way[1].Close()
			buf := make([]byte, 32<<10)
			for {
				n, err := way[0].Read(buf)
				if err != nil {
					return
				}
				if _, _, open := c.state(); !closed(open) {
					continue // dropped
				}
				if _, err := way[1].Write(buf[:n]); err != nil {
					return
				}
			}
		})
	}
	<-dead
	in.Close()
	out.Close()
	both.Wait()
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// drop begins a cut.
func (c *cut) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = make(chan struct{})
}

// lose ends it: all connections are lost, and new ones pass.
func (c *cut) lose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.dead)
	c.dead = make(chan struct{})
	if !closed(c.open) {
		close(c.open)
	}
}

// A cut between all workers and the server, and one between the run and the server. The normal run has the first.
func TestTheNetworkIsCut(t *testing.T) {
	t.Parallel()
	for _, of := range notrun.Few([]string{"workers", "run"}, 0) {
		t.Run(of, func(t *testing.T) {
			s := start(t, embedded.Config{})
			c := newCut(t, s.URL())
			workers, runs := c.url(), s.URL()
			if of == "run" {
				workers, runs = runs, workers
			}
			f := newFleet(t, workers, 4)
			e := run(t, quick(runs))
			n := f.during(e, func() {
				c.drop()
				cutFor := 2 * time.Second
				if *long {
					cutFor = 10 * time.Second
				}
				time.Sleep(cutFor)
				c.lose()
			})
			f.checkAll(n, 16)
		})
	}
}

// A cut that is shorter than Lost costs no evaluation that goes on meanwhile, also if another worker is free.
func TestALongEvaluationOutlastsACut(t *testing.T) {
	t.Parallel()
	lost, cutFor, takes := 8*time.Second, time.Second, 9*time.Second
	if *long {
		lost, cutFor, takes = 0, 10*time.Second, 20*time.Second // 0 is the default of 15 s
	}
	s := start(t, embedded.Config{})
	c := newCut(t, s.URL())
	e := run(t, nats.Config{Server: nats.Server{URL: s.URL()}, Lost: lost})
	var begun atomic.Int64
	scorer := eval.Func(func(ctx context.Context, _ string) (eval.Result, error) {
		begun.Add(1)
		select {
		case <-time.After(takes):
		case <-ctx.Done():
		}
		return eval.Result{Score: 1, Valid: true}, ctx.Err()
	})
	work(t, nats.WorkerConfig{Server: nats.Server{URL: c.url()}, Evaluator: scorer})
	for program := range 5 { // where the machine is busy for longer than the rest of Lost, the next
		before := begun.Load()
		var all sync.WaitGroup
		all.Go(func() {
			if r, err := e.Evaluate(t.Context(), fmt.Sprint(program)); err != nil || r.Score != 1 {
				t.Errorf("%+v, %v", r, err)
			}
		})
		until(t, "it is under way", func() bool { return begun.Load() > before })
		_, leave := work(t, nats.WorkerConfig{Server: nats.Server{URL: s.URL()}, Evaluator: scorer})
		time.Sleep(takes / 10)
		c.drop()
		time.Sleep(cutFor)
		c.lose()
		all.Wait()
		leave()
		if begun.Load() == before+1 {
			return
		}
	}
	t.Errorf("%d evaluations of 5 programs", begun.Load())
}
