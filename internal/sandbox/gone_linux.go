package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Gone waits, at most for limit, until no process of one that has ended runs any more, since killing takes time, and
// reports whether that is so. In a pid namespace all end with the first process. Without one Gone checks the process
// group, and does not know of processes that left it.
func (p *Process) Gone(limit time.Duration) bool {
	<-p.done
	end := time.Now().Add(limit)
	for pause := 100 * time.Microsecond; groupRuns(p.group); pause = min(2*pause, 20*time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// groupRuns reports whether a process of a group is alive. It ignores dead ones that wait to be reaped, perhaps for
// ever.
func groupRuns(group int) bool {
	if unix.Kill(-group, 0) == unix.ESRCH {
		return false
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // names missing from the list are checked next time
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if g, err := unix.Getpgid(pid); err != nil || g != group {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, state, _ := bytes.Cut(stat, []byte(") "))
		if err == nil && !bytes.HasPrefix(state, []byte("Z")) && !bytes.HasPrefix(state, []byte("X")) {
			return true
		}
	}
	return false
}
