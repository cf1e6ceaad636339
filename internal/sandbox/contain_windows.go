package sandbox

import "os/exec"

// Contain starts cmd in a process group of its own.
func (p *Plan) Contain(cmd *exec.Cmd, b Bounds, folders ...string) (*Process, error) {
	cmd.SysProcAttr = attr()
	return Start(cmd)
}
