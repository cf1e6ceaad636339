package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Gone waits, for as long as limit, until nothing of a process that has ended runs any more, and reports whether
// that is so: a signal that kills takes its time. In a pid namespace the end of the first process is that of all.
// Else it is a process group that ends, and those who left it are not known.
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

// groupRuns reports whether somebody of a process group is alive: not dead and only waiting to be reaped, which
// may be for ever.
func groupRuns(group int) bool {
	if unix.Kill(-group, 0) == unix.ESRCH {
		return false
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what could not be listed is looked for the next time
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
