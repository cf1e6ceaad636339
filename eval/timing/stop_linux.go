package timing

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// stopTime is how long a stopped process may take to stand still. On a busy machine a thread stops only at its next
// turn.
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
		// A thread counts as stopped a moment before it leaves its processor.
		used := s.used
		if s.used, err = processorTime(s.process.Pid()); err != nil || still && s.used == used {
			s.stopped = time.Now()
			return err
		}
	}
	return perhaps("did not stand still within %v of being stopped", stopTime)
}

// mostAfter bounds the processor time that a process uses after its stop. The kernel needs less to take a thread off a
// processor, and so little time disturbs no measurement.
const mostAfter = 2 * time.Millisecond

// settle adds to a call's time what the process has used since its stop. A timer of its own can wake a process, to
// continue with its answer or to disturb the other side. If the process ran on, the wall time since the stop counts
// too.
func (s *side) settle(took *duration) error {
	now, err := processorTime(s.process.Pid())
	if err != nil {
		return err
	}
	after := now - s.used
	took.cpu, s.used = took.cpu+after, now
	if after > 0 {
		took.elapsed += time.Since(s.stopped)
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
			continue // the thread has ended
		}
		i := bytes.LastIndexByte(stat, ')') // the name may contain anything
		if i < 0 || i+2 >= len(stat) || !bytes.ContainsRune([]byte("TtZX"), rune(stat[i+2])) {
			return false, nil
		}
	}
	return true, nil
}

// processorTime returns the processor time of all threads of a process, including ended ones.
func processorTime(pid int) (time.Duration, error) {
	const ofProcess = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|ofProcess), &t); err != nil {
		return 0, perhaps("ended before it had answered")
	}
	return time.Duration(t.Nano()), nil
}

// allowedCPUs returns the processors that this process may use, the last one first, since the system tends to use the
// first. It returns nil if they are unknown.
func allowedCPUs() (cpus []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for cpu := len(set)*64 - 1; cpu >= 0; cpu-- {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// pin restricts all threads of the stopped process, and those that they start, to cpus. The filter keeps the program
// from changing that.
func (s *side) pin(cpus []int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", s.process.Pid()))
	if err != nil {
		return s.ended()
	}
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if err == nil {
			err = unix.SchedSetaffinity(tid, &set)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("timing: keeping a process to the processors %v: %w", cpus, err)
		}
	}
	return nil
}

// atWork returns how long some processors have worked since the system was started, for any process or for the host of
// a virtual machine. It returns 0 if cpus is empty or the system does not tell.
func atWork(cpus []int) (sum time.Duration) {
	if len(cpus) == 0 {
		return 0
	}
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(stat)) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		if cpu, err := strconv.Atoi(fields[0][len("cpu"):]); err != nil || !slices.Contains(cpus, cpu) {
			continue
		}
		for _, i := range []int{1, 2, 3, 6, 7, 8} { // user, nice, system, interrupts (6, 7), stolen; 4 and 5 are idle
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			sum += time.Duration(n) * tick
		}
	}
	return sum
}
