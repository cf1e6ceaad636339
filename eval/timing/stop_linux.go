package timing

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// stopTime is how long a process may take to stand still once it is stopped. On a busy machine a thread stops only
// when it has its turn.
const stopTime = 10 * time.Second

// stop stops the process, waits until none of its threads runs, and reads its clock.
func (s *side) stop() error {
	if err := unix.Kill(s.process.Pid(), unix.SIGSTOP); err != nil {
		return s.ended()
	}
	for begin := time.Now(); time.Since(begin) < stopTime; time.Sleep(20 * time.Microsecond) {
		still, err := standsStill(s.process.Pid())
		if err != nil {
			return s.ended()
		}
		// A thread is marked as stopped a moment before it leaves its processor.
		used := s.used
		if s.used, err = processorTime(s.process.Pid()); err != nil || still && s.used == used {
			s.stopped = time.Now()
			return err
		}
	}
	return perhaps("did not stand still within %v of being stopped", stopTime)
}

// mostAfter is how much processor time a process may use after it was stopped. It is more than the kernel needs to take a
// thread off a processor, and little enough that it slows nobody down.
const mostAfter = 2 * time.Millisecond

// settle adds to the time of a call what the process has used since it was stopped. A timer of its own can wake it, to
// go on with its answer or to disturb the other side. What it waited for meanwhile counts too, by the other clock.
func (s *side) settle(took *duration) error {
	now, err := processorTime(s.process.Pid())
	if err != nil {
		return err
	}
	after := now - s.used
	took.cpu, s.used = took.cpu+after, now
	if after > 0 {
		took.wall += time.Since(s.stopped)
	}
	if after > mostAfter {
		return perhaps("ran on for %v after it was stopped", after)
	}
	return nil
}

// standsStill reports whether all threads of a process are stopped.
func standsStill(pid int) (bool, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		stat, err := os.ReadFile(dir + e.Name() + "/stat")
		if err != nil {
			continue // a thread that has ended
		}
		i := bytes.LastIndexByte(stat, ')') // a name may hold anything
		if i < 0 || i+2 >= len(stat) || !bytes.ContainsRune([]byte("TtZX"), rune(stat[i+2])) {
			return false, nil
		}
	}
	return true, nil
}

// processorTime returns how long the threads of a process have run, those that have ended included.
func processorTime(pid int) (time.Duration, error) {
	const ofProcess = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|ofProcess), &t); err != nil {
		return 0, perhaps("ended before it had answered")
	}
	return time.Duration(t.Nano()), nil
}

// lastCPU returns the last processor that this process may use, as the first tends to be the system's own; -1 if it
// is not known.
func lastCPU() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return -1
	}
	for cpu := len(set)*64 - 1; cpu >= 0; cpu-- {
		if set.IsSet(cpu) {
			return cpu
		}
	}
	return -1
}

// pin has all threads of the process, and those that they start, keep to a processor. It is for the quality of
// measurements and not against hostile programs, so it may fail: the clock counts all processors.
func (s *side) pin(cpu int) {
	if cpu < 0 {
		return
	}
	var set unix.CPUSet
	set.Set(cpu)
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", s.process.Pid()))
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			_ = unix.SchedSetaffinity(tid, &set)
		}
	}
}
