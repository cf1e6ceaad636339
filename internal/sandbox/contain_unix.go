//go:build unix && !linux

package sandbox

import (
	"fmt"
	"os/exec"
)

// gate is a script that sets the limits that the shell and the system support, and becomes the command.
const gate = `{ ulimit -c 0; ulimit -t %d; ulimit -n %d; ulimit -f %d; } 2>/dev/null; exec "$@"`

// Contain starts cmd with limits, in a session of its own.
func (p *Plan) Contain(cmd *exec.Cmd, b Bounds, folders ...string) (*Process, error) {
	const block = 512
	script := fmt.Sprintf(gate, b.Seconds(), b.OpenFiles, max(b.FileBytes/block, 1))
	cmd.Args = append([]string{"sh", "-c", script, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	if err := CloseInherited(cmd); err != nil {
		return nil, err
	}
	cmd.SysProcAttr = attr()
	return Start(cmd)
}
