package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// exposed describes the danger of memory that nothing protects.
const exposed = "; without user namespaces candidates can then read the environment and memory of this user's other " +
	"processes"

// close ensures that a contained process cannot reach the memory and the environment of this one, which hold the
// model's key. A user namespace or Landlock ensures that, or, for root, the lack of capabilities. Otherwise close makes
// this process not dumpable, which protects it from others of its user. With a user namespace close does not, because
// this process could then no longer write the uid_map of a process that it starts in one.
//
// If this process starts commands itself, Landlock is not enough: the thread that starts a command is confined by the
// same rules, so the command may inspect the thread, and through it this process.
func (p *Plan) close(commands bool) error {
	if p.level == isolation.None || p.has(UserNS) {
		return nil
	}
	open, err := p.reach(commands)
	if err != nil || open == "" {
		return err
	}
	if !p.has(Landlock) && p.missing[Landlock] != leftOut {
		p.missing[Landlock] += exposed
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("sandbox: closing this process's memory: %w", err)
	}
	open, err = p.reach(commands)
	if err == nil && open != "" {
		err = fmt.Errorf("sandbox: a candidate could open %s, and so read this process's keys and memory, as user "+
			"namespaces are missing (%s); "+
			"allow them, run as root, or choose isolation %v, which runs candidates all the same",
			open, p.missing[UserNS], isolation.None)
	}
	return err
}

// reaching is a script that opens the files matching its arguments, which would expose a process, and prints those that
// it could open.
const reaching = `for f in $*; do true < $f && echo $f; done 2>/dev/null; exit 0`

// reach returns the files about this process, and with threads about its threads, that a contained process can open, or
// "".
func (p *Plan) reach(threads bool) (string, error) {
	var out bytes.Buffer
	self := "/proc/" + strconv.Itoa(os.Getpid())
	args := []string{"-c", reaching, "sh"}
	for _, name := range []string{"environ", "mem", "maps"} {
		args = append(args, self+"/"+name)
		if threads {
			args = append(args, self+"/task/*/"+name)
		}
	}
	cmd := exec.Command("/bin/sh", args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.WaitDelay = "/", []string{}, &out, time.Minute
	err := p.trial(cmd)
	if err != nil {
		return "", fmt.Errorf("sandbox: finding out whether a candidate could read this process's memory: %w", err)
	}
	return firstWords(out.String(), 4), nil
}

// trial runs a command of ours as a candidate would be run.
func (p *Plan) trial(cmd *exec.Cmd, folders ...string) error {
	process, err := p.Contain(cmd,
		Bounds{CPU: time.Minute, Memory: 1 << 30, FileBytes: 1 << 20, OpenFiles: 64, Processes: 16}, folders...)
	if err != nil {
		return err
	}
	timer := time.AfterFunc(time.Minute, process.Kill)
	defer timer.Stop()
	return process.Wait()
}

func firstWords(s string, n int) string {
	words := strings.Fields(s)
	return strings.Join(words[:min(n, len(words))], " ")
}
