package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// families are what a kernel or its settings may withhold.
var families = map[string][]isolation.Mechanism{
	"nothing":    nil,
	"namespaces": {UserNS, PIDNS, NetNS, IPCNS, MountNS},
	"mounts":     {MountNS},
	"landlock":   {Landlock},
	"seccomp":    {Seccomp},
}

// planWithout returns a plan for commands that does without some mechanisms.
func planWithout(t *testing.T, ms []isolation.Mechanism) *Plan {
	t.Helper()
	p, err := NewCommandPlan(isolation.BestEffort, slices.DeleteFunc(Mechanisms(),
		func(m isolation.Mechanism) bool { return slices.Contains(ms, m) }))
	// Without user namespaces this process may have been closed, which would be in the way of having them
	// with the next plan.
	if err := errors.Join(err, unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	return p
}

func planWith(t *testing.T, level isolation.Level, want []isolation.Mechanism) *Plan {
	t.Helper()
	p, err := NewPlan(level, want)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var bounds = Bounds{CPU: time.Hour, Memory: 1 << 30, FileBytes: 1 << 20, OpenFiles: 77, Processes: 20}

// contained runs a script under the plan in a folder of its own, and returns what it printed and the
// exit status.
func contained(t *testing.T, p *Plan, script string, folders ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=/usr/bin:/bin"}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Minute
	process, err := p.Contain(cmd, bounds, append(folders, cmd.Dir)...)
	if err != nil {
		t.Fatal(err)
	}
	defer process.Kill()
	_ = process.Wait() // how it ended is in its state
	return out.String(), cmd.ProcessState.ExitCode()
}

// A contained command is who it was, has the limits it was given and no means to get out of them,
// whatever else is missing.
func TestContain(t *testing.T) {
	for family, ms := range families {
		t.Run("without "+family, func(t *testing.T) {
			p := planWithout(t, ms)
			out, code := contained(t, p,
				"id -u; ulimit -c; ulimit -n; ulimit -t; ulimit -v; while read -r k v; do case $k in CapEff:|CapPrm:|CapInh:|CapAmb:|NoNewPrivs:|Seccomp:) echo $k $v;; esac; done < /proc/self/status")
			got := strings.Fields(out)
			if code != 0 || len(got) < 5 {
				t.Fatalf("exit status %d: %s", code, out)
			}
			want := []string{strconv.Itoa(os.Geteuid()), "0", "77", "3600", strconv.Itoa(1 << 20)}
			if !slices.Equal(got[:5], want) {
				t.Errorf("user and limits %q, want %q", got[:5], want)
			}
			for _, line := range strings.Split(strings.TrimSpace(out), "\n")[5:] {
				name, value, _ := strings.Cut(line, ": ")
				n, err := strconv.ParseUint(value, 16, 64)
				filtered := name == "Seccomp" && p.has(Seccomp)
				switch {
				case err != nil:
					t.Error(err)
				case name == "NoNewPrivs" && n != 1, filtered && n != 2, name == "Seccomp" && !filtered && n != 0:
					t.Errorf("%s is %d", name, n)
				case strings.HasPrefix(name, "Cap") && n != 0:
					t.Errorf("%s is %x", name, n)
				}
			}
		})
	}
}

// The status of a command that a signal ended is what a shell makes of it, and what the command leaves
// running ends with it.
func TestContainEnds(t *testing.T) {
	for family, ms := range families {
		p := planWithout(t, ms)
		for script, want := range map[string]int{"exit 7": 7, "kill -9 $$": 128 + 9, "kill -SEGV $$": 128 + 11,
			"sleep 1000 & exit 3": 3} {
			if out, code := contained(t, p, script); code != want {
				t.Errorf("without %s: %s ends with %d, want %d: %s", family, script, code, want, out)
			}
		}
	}
}

// Only the named folders can be written to, with Landlock.
func TestContainFolders(t *testing.T) {
	allowed, other := t.TempDir(), t.TempDir()
	p := planWithout(t, nil)
	if !p.has(Landlock) {
		t.Skip(p.missing[Landlock])
	}
	script := fmt.Sprintf("echo 1 > here && echo 2 > %s/x && echo 3 > /dev/null && ! echo 4 > %s/x", allowed, other)
	if out, code := contained(t, p, script, allowed, filepath.Join(other, "not there")); code != 0 {
		t.Errorf("exit status %d: %s", code, out)
	}
	if _, err := os.Stat(filepath.Join(other, "x")); !os.IsNotExist(err) {
		t.Errorf("another folder was written to: %v", err)
	}
}

// So many processes there may be, and no more, by whatever limits them. What limits them for the
// command leaves the machine's own limit alone.
func TestContainProcesses(t *testing.T) {
	const highest = "/proc/sys/kernel/pid_max"
	before := reads(highest)
	for family, ms := range families {
		p := planWithout(t, ms)
		if !p.ContainReport().Has(Processes) {
			continue // which the report says; TestWatch has what there is then
		}
		// Each process waits for the script's end, so all are there at once.
		out, _ := contained(t, p, "i=0; while test $i -lt 60; do sleep 1000 >/dev/null 2>&1 & i=$((i+1)); echo $i; done")
		made := strings.Count(out, "\n") - strings.Count(out, "fork")
		if made < bounds.Processes/2 || made > bounds.Processes+1 {
			t.Errorf("without %s: %d processes came about, want at most %d, and most of these: %.300q", family, made,
				bounds.Processes, out)
		}
	}
	if after := reads(highest); after != before {
		t.Errorf("%s was %s and is %s", highest, before, after)
	}
}

// Where nothing limits processes beforehand, too many are seen and ended.
func TestWatch(t *testing.T) {
	p := planWithout(t, append(slices.Clone(families["namespaces"]), Seccomp))
	if p.ContainReport().Has(Processes) {
		t.Fatalf("in force: %v", p.ContainReport())
	}
	cmd := exec.Command("/bin/sh", "-c",
		"i=0; while test $i -lt 60; do sleep 1000 >/dev/null 2>&1 & i=$((i+1)); done; wait")
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	process, err := p.Contain(cmd, bounds)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Wait(); err == nil || !process.Crowded() {
		t.Errorf("it ended with %v, crowded %v", err, process.Crowded())
	}
}

// Containing a command leaves this process as it was: no thread that is confined, no open file.
func TestContainLeavesNothing(t *testing.T) {
	p := planWithout(t, nil)
	contained(t, p, "exit 0") // opens what is kept open from then on
	before := count(t, "/proc/self/fd")
	for range 10 {
		contained(t, p, "exit 0")
	}
	var confined []string
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if confined = confinedThreads(t); len(confined) == 0 {
			break // a thread ends a little after its goroutine
		}
	}
	if len(confined) > 0 {
		t.Errorf("threads %v are confined", confined)
	}
	if after := count(t, "/proc/self/fd"); after > before {
		t.Errorf("%d open files, before there were %d", after, before)
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func confinedThreads(t *testing.T) (tids []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		status, _ := os.ReadFile("/proc/self/task/" + e.Name() + "/status") // it may be gone
		if bytes.Contains(status, []byte("NoNewPrivs:\t1")) {
			tids = append(tids, e.Name())
		}
	}
	return tids
}

// What is missing is in the report with a reason, and what is in force was found by trying.
func TestPlanReports(t *testing.T) {
	for _, m := range planWithout(t, nil).ContainReport().Missing() {
		if m.Missing == "left out" || m.Missing == "" {
			t.Errorf("%s is missing for reason %q", m.Mechanism, m.Missing)
		}
	}
	none := planWith(t, isolation.None, Mechanisms())
	if got := none.ContainReport().InForce(); !slices.Equal(got, []isolation.Mechanism{Group, Limits}) {
		t.Errorf("with isolation.None, in force: %v", got)
	}
	if o := none.Orders(bounds, "/tmp"); o.Isolate || o.Landlock != nil || o.Filters != nil || o.OpenFiles != 77 ||
		o.CPUSeconds != 3600 {
		t.Errorf("with isolation.None, the orders are %+v", o)
	}
	alone := bounds
	alone.Processes = 0
	all := planWith(t, isolation.BestEffort, Mechanisms())
	o := all.Orders(alone, "/tmp")
	if r := all.Report(o, map[isolation.Mechanism]string{MountNS: "a reason found out later"}); r.Has(MountNS) ||
		!strings.Contains(r.String(), "private mounts (a reason found out later)") {
		t.Errorf("the report is %v", r)
	}
	if all.has(Seccomp) != (len(o.Alone) > 0) || all.has(Seccomp) != all.Report(o, nil).Has(Processes) {
		t.Errorf("seccomp %v, a filter for those alone of %d bytes, report %v", all.has(Seccomp), len(o.Alone),
			all.Report(o, nil))
	}
}

// A command that is the process itself has the id that is known, the files that it is given, and by Timed's filter no
// other processes.
func TestItself(t *testing.T) {
	for family, ms := range families {
		t.Run("without "+family, func(t *testing.T) {
			p := planWithout(t, ms)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := exec.Command("/bin/sleep", "1000")
			cmd.Dir, cmd.Env, cmd.ExtraFiles = t.TempDir(), []string{}, []*os.File{w}
			b := bounds
			b.Itself = true
			process, err := p.Contain(cmd, b, cmd.Dir)
			w.Close()
			if err != nil {
				t.Fatal(err)
			}
			defer process.Wait()
			defer process.Kill()
			var name []byte
			for begin := time.Now(); string(name) != "sleep\n" &&
				time.Since(begin) < 5*time.Minute; time.Sleep(time.Millisecond) {
				name, _ = os.ReadFile(fmt.Sprintf("/proc/%d/comm", process.Pid()))
			}
			if string(name) != "sleep\n" {
				t.Errorf("the process is %q", name)
			}
			process.Kill()
			if n, err := r.Read(make([]byte, 1)); n != 0 ||
				err == nil { // at its end only when the command has ended, who holds it
				t.Errorf("read %d, %v", n, err)
			}
			if got := p.Timed() == nil; got != slices.Contains(ms, Seccomp) {
				t.Errorf("a filter is missing: %v", got)
			}
		})
	}
}
