package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watch kills the process once its crowd is larger than most. It notices a fork bomb only afterwards, so any limit is
// better. The returned function ends the watch and waits for its end.
func (p *Plan) watch(process *Process, most int) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	c, base := p.newCrowd(process, true), tasks()
	go func() {
		defer close(ended)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-process.done:
				return
			case <-tick.C:
			}
			// Count exactly only when the machine has that many more tasks than at the lowest count so far.
			now := tasks()
			base = min(base, now)
			if now-base > most && c.count(most+1) > most {
				process.crowded.Store(true)
				process.Kill()
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-ended
	})
}

// watchEvery is how often the machine's processes are counted, by one system call.
const watchEvery = 2 * time.Millisecond

// A crowd is the processes of one start: those in a pid namespace, or without one in a process group, or else the
// descendants of a process.
type crowd struct {
	root, group int
	namespace   string
}

// newCrowd returns the crowd of a process started under the plan; grouped means that none of its processes can leave
// the group.
func (p *Plan) newCrowd(process *Process, grouped bool) crowd {
	c := crowd{root: process.pid}
	if grouped {
		c.group = process.group
	}
	if p.has(PIDNS) {
		c.namespace, _ = os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", process.pid))
	}
	return c
}

// count returns the number of processes and threads, or any number of at least most if there are that many.
func (c *crowd) count(most int) int {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer dir.Close()
	n, parents := 0, make(map[int]int)
	for n < most {
		names, err := dir.Readdirnames(100)
		if err != nil {
			break
		}
		for _, name := range names {
			pid, err := strconv.Atoi(name)
			switch {
			case err != nil:
			case c.namespace == "" && c.group == 0:
				parents[pid], _ = status(pid)
			case c.with(pid):
				_, threads := status(pid)
				n += max(threads, 1)
			}
		}
	}
	return n + c.descendants(parents)
}

func (c *crowd) with(pid int) bool {
	if c.namespace != "" {
		ns, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
		return ns == c.namespace
	}
	group, err := unix.Getpgid(pid)
	return err == nil && group == c.group
}

// descendants counts the processes that come from the root, and their threads.
func (c *crowd) descendants(parents map[int]int) (n int) {
	for pid := range parents {
		for up, steps := pid, 0; up > 1 && steps < len(parents); up, steps = parents[up], steps+1 {
			if up == c.root {
				_, threads := status(pid)
				n += max(threads, 1)
				break
			}
		}
	}
	return n
}

// Resident returns the bytes of memory that the descendants of a process hold, with their share of what they share.
func Resident(process *Process) (bytes int64) {
	entries, _ := os.ReadDir("/proc")
	parents := make(map[int]int)
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			parents[pid], _ = status(pid)
		}
	}
	for pid := range parents {
		up := parents[pid]
		for steps := 0; up > 1 && up != process.pid && steps < len(parents); steps++ {
			up = parents[up]
		}
		if up != process.pid {
			continue
		}
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // one that has ended holds nothing
		if _, rest, ok := strings.Cut(string(text), "\nPss:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			bytes += kib << 10
		}
	}
	return bytes
}

// status returns the parent of a process and the number of its threads, or 0 if the process is gone.
func status(pid int) (parent, threads int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	const ppid, numThreads = 1, 17 // counted after the name
	if f := bytes.Fields(rest); len(f) > numThreads {
		parent, _ = strconv.Atoi(string(f[ppid]))
		threads, _ = strconv.Atoi(string(f[numThreads]))
	}
	return parent, threads
}

// tasks returns the number of processes and threads on the machine.
func tasks() int {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int(info.Procs)
}
