//go:build !linux

package sandbox

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// A Plan is the containment that this machine offers: on this system, little.
type Plan struct {
	level   isolation.Level
	want    []isolation.Mechanism
	missing map[isolation.Mechanism]string
	hidden  []string // which nothing here hides
	layers  []Layer  // which nothing here shows
	relay   *Relay
}

// NewPlan returns a plan with only groups and limits among the wanted mechanisms.
func NewPlan(level isolation.Level, want []isolation.Mechanism) (*Plan, error) {
	p := &Plan{level: level, want: want, missing: make(map[isolation.Mechanism]string)}
	for _, m := range Mechanisms() {
		if m != Group && m != Limits {
			p.missing[m] = "not on " + runtime.GOOS
		}
	}
	return p, nil
}

// NewCommandPlan is [NewPlan] for commands started by Contain.
func NewCommandPlan(level isolation.Level, want []isolation.Mechanism) (*Plan, error) {
	return NewPlan(level, want)
}

// Lending returns p: devices are open to all here.
func (p *Plan) Lending([]string) *Plan { return p }

// Resident returns 0: this system does not tell.
func Resident(*Process) int64 { return 0 }

// TryLayer returns an error: there are no layers on this system.
func (p *Plan) TryLayer(dir string, clear bool, bases ...string) error { return makeOpaque(dir) }

func makeOpaque(string) error { return errors.New("sandbox: no layers on " + runtime.GOOS) }

// Attr returns how to start a process under the plan.
func (p *Plan) Attr() *syscall.SysProcAttr { return attr() }

// Orders returns the limits.
func (p *Plan) Orders(b Bounds, scratch string, guarded ...int) Orders {
	o := Orders{Scratch: scratch}
	o.limits(b)
	return o
}

// Timed returns nil: this system has no such filter.
func (p *Plan) Timed() []byte { return nil }

// StartZygote starts cmd.
func (p *Plan) StartZygote(cmd *exec.Cmd, b Bounds) (*Process, error) { return Start(cmd) }

// Report returns the mechanisms in force.
func (p *Plan) Report(o Orders, missing map[isolation.Mechanism]string) isolation.Report {
	return newReport(p.want, with(p.missing, missing))
}

// ContainReport returns the mechanisms in force in a process started by Contain.
func (p *Plan) ContainReport() isolation.Report { return newReport(p.want, p.missing) }
