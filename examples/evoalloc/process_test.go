package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// ignoreHangup is the variable of a process that is under nohup.
const ignoreHangup = "EVOALLOC_TEST_NOHUP"

// toolArgs is the variable with the arguments of the tool that a process of the tests is.
const toolArgs = "EVOALLOC_TEST_ARGS"

func TestMain(m *testing.M) {
	if args, given := os.LookupEnv(toolArgs); given {
		if os.Getenv(ignoreHangup) != "" {
			signal.Ignore(syscall.SIGHUP)
		}
		os.Args = append(os.Args[:1], strings.Fields(args)...)
		main()
	}
	_, err := python.Find(context.Background())
	if noPython = err != nil; noPython {
		notrun.Say("examples/evoalloc", "searches on folders", err, "install python3")
	}
	os.Exit(m.Run())
}

// generous is how long a test waits for what must happen, on a machine that does much else.
const generous = 5 * time.Minute

// process returns the tool in a process of its own.
func process(t *testing.T, args string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), toolArgs+"="+args)
	return cmd
}

// A served page is what a process serves.
type served struct {
	cmd            *exec.Cmd
	address, token string
	out            *bufio.Scanner
	stopped        bool
	last           []string // lines after the interrupt
}

// begun starts a process and waits for its link.
func begun(t *testing.T, cmd *exec.Cmd) *served {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &served{cmd: cmd, out: bufio.NewScanner(out)}
	t.Cleanup(func() {
		if !p.stopped {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	for p.out.Scan() {
		if _, link, found := strings.Cut(p.out.Text(), "http://"); found {
			p.address, p.token, _ = strings.Cut("http://"+link, "/#token=")
			return p
		}
	}
	t.Fatal("no link is printed")
	return nil
}

// watching starts the command watch.
func watching(t *testing.T, args string) *served { return begun(t, process(t, "watch "+args)) }

// interrupt is Ctrl-C. It returns the exit status.
func (p *served) interrupt(t *testing.T) int {
	t.Helper()
	p.stopped = true
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for p.out.Scan() {
		p.last = append(p.last, p.out.Text())
	}
	var failed *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// stop ends a page that stays, once the process has said that it stays.
func (p *served) stop(t *testing.T) {
	t.Helper()
	for p.out.Scan() {
		if strings.Contains(p.out.Text(), "stays until Ctrl-C") {
			break
		}
	}
	if status := p.interrupt(t); status != 0 {
		t.Errorf("the status after Ctrl-C is %d, want 0", status)
	}
}

// ask reads what the page asks for.
func (p *served) ask(t *testing.T, path string, to any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%s is answered %s %s: %v", path, a.Status, text, err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatal(err)
	}
}

// only waits until there is one run, and returns its ID.
func (p *served) only(t *testing.T) (id string) {
	t.Helper()
	wait(t, "there is one run", func() error {
		var list struct{ Runs []struct{ ID string } }
		if p.ask(t, "/api/runs", &list); len(list.Runs) != 1 {
			return fmt.Errorf("there are %d", len(list.Runs))
		}
		id = list.Runs[0].ID
		return nil
	})
	return id
}

// A runState is what these tests read of a page's data.
type runState struct {
	Status   string
	Children struct{ Arm []int }
}

// until waits until a run is as it should be.
func (p *served) until(t *testing.T, run, what string, holds func(runState) bool) {
	t.Helper()
	wait(t, what, func() error {
		var s runState
		if p.ask(t, "/api/state?run="+run, &s); !holds(s) {
			return fmt.Errorf("it is %s with %d children", s.Status, len(s.Children.Arm))
		}
		return nil
	})
}

// wait waits until check returns nil.
func wait(t *testing.T, what string, check func() error) {
	t.Helper()
	end := time.Now().Add(generous)
	for err := check(); err != nil; err = check() {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s: %v", generous, what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
