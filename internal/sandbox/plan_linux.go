package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// A Plan is the containment that this machine offers, found out by trying.
type Plan struct {
	level     isolation.Level
	want      []isolation.Mechanism
	flags     uintptr
	abi       int  // of Landlock; 0 if it is missing
	asks      bool // whether a keeper can limit the number of processes
	furnishes bool // whether Contain makes private mounts
	missing   map[isolation.Mechanism]string
	hidden    []string // what cannot be read
	layers    []Layer
	relay     *Relay   // what its process can reach; nil: nothing
	lent      []string // devices besides those that all have
}

// Lending returns a plan like p whose processes may use these devices.
func (p *Plan) Lending(devices []string) *Plan {
	q := *p
	q.lent = append(slices.Clone(p.lent), devices...)
	return &q
}

// leftOut is the reason for a mechanism that was not wanted, which reports leave out.
const leftOut = "left out"

// NewPlan finds out which of the wanted mechanisms this machine has. Only tests want fewer than all.
//
// If nothing else keeps contained processes from the memory and the environment of this one, NewPlan makes this process
// not dumpable. If they can be read nevertheless, that is an error, unless level is None.
func NewPlan(level isolation.Level, want []isolation.Mechanism) (*Plan, error) {
	p := &Plan{level: level, want: want, missing: make(map[isolation.Mechanism]string)}
	for _, m := range Mechanisms() {
		if !slices.Contains(want, m) {
			p.missing[m] = leftOut
		}
	}
	if level == isolation.None {
		for _, m := range want {
			if m != Group && m != Limits {
				p.missing[m] = notWanted
			}
		}
		return p, nil
	}
	flags, missing := namespaces(want)
	p.flags, p.missing = flags, with(missing, p.missing)
	p.probe()
	if p.has(Seccomp) && p.bind(p.has(MountNS)) == byWatch {
		p.asks = canAsk()
	}
	return p, p.close(false)
}

// probe fills in all mechanisms but namespaces.
func (p *Plan) probe() {
	if slices.Contains(p.want, Landlock) {
		abi, err := landlockABI()
		if p.abi = abi; err != nil {
			p.missing[Landlock] = err.Error()
		}
	}
	if auditArch == 0 {
		p.missing[Seccomp] = "no filter is written for this processor"
	} else if slices.Contains(p.want, Seccomp) && !knowsSeccomp() {
		p.missing[Seccomp] = "not built into this kernel"
	}
}

func knowsSeccomp() bool {
	_, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err == nil
}

// Attr returns how to start a process under the plan. The process ends with the thread that
// starts it.
func (p *Plan) Attr() *syscall.SysProcAttr { return attr(p.flags) }

func (p *Plan) has(m isolation.Mechanism) bool { return p.missing[m] == "" }

// Orders returns the orders for a process started with Attr. guarded are processes that it must not signal.
func (p *Plan) Orders(b Bounds, scratch string, guarded ...int) Orders {
	o := Orders{Isolate: p.level != isolation.None, Scratch: scratch, Root: os.Geteuid() == 0,
		UserNS: p.has(UserNS), PIDNS: p.has(PIDNS), MountNS: p.has(MountNS), Numbers: numbers}
	o.limits(b)
	if !o.Isolate {
		return o
	}
	o.Hidden = p.hidden
	if p.has(Landlock) {
		o.Landlock = landlockOrders(p.abi, p.hidden, p.lent)
	}
	if p.has(MountNS) {
		o.Devices = p.kept()
	}
	if p.has(Seccomp) {
		s := p.setting(guarded)
		if p.bind(p.has(MountNS)) == byKeeper {
			s.unasked = startFlags(p.flags)
		}
		o.Filters = map[string][]byte{"plain": encode(baseFilter(s))}
		s.mounts = true
		o.Filters["mounted"] = encode(baseFilter(s))
		if b.Processes == 0 {
			o.Alone = encode(aloneFilter(s))
		}
	}
	o.Shm = b.Processes > 0 && isDir("/dev/shm")
	if o.ProcLimit = b.tasks(); o.ProcLimit > 0 && o.Root && o.PIDNS && o.MountNS && pidMaxByNamespace() {
		o.PIDMax = firstPID + o.ProcLimit
	}
	return o
}

// firstPID is the id at which a namespace continues after pid_max. Lower ids are used only once, so the namespace is
// set up as if they had been used.
const firstPID = 300

// Timed returns the filter that a contained process installs before its calls are timed, as an array of struct
// sock_filter: from then on it has threads but no other processes, no timers, and fixed processors. It is nil if there
// are no filters here.
func (p *Plan) Timed() []byte {
	if !p.has(Seccomp) {
		return nil
	}
	return encode(timedFilter(p.setting(nil)))
}

func (p *Plan) setting(guarded []int) setting {
	return setting{pidns: p.has(PIDNS), truncate: p.abi >= 3, guarded: guarded, tcp: p.relay != nil}
}

var numbers = map[string]int{
	"mount_setattr":           unix.SYS_MOUNT_SETATTR,
	"landlock_create_ruleset": unix.SYS_LANDLOCK_CREATE_RULESET,
	"landlock_add_rule":       unix.SYS_LANDLOCK_ADD_RULE,
	"landlock_restrict_self":  unix.SYS_LANDLOCK_RESTRICT_SELF,
}

func landlockOrders(abi int, hidden, lent []string) *LandlockOrders {
	s := handled(abi)
	o := &LandlockOrders{FS: s.fs, Net: s.net, Scoped: s.scoped, Size: uint64(attrSize(s)),
		Folder: s.fs &^ makeDevices, Device: s.fs & useDevice, Devices: slices.Concat(devices, lent),
		Read: readFile, Readable: readables(hidden)}
	return o
}

// Report returns the mechanisms in force in a process that has carried out its orders, with its reasons for missing
// ones.
func (p *Plan) Report(o Orders, missing map[isolation.Mechanism]string) isolation.Report {
	all := with(p.missing, missing)
	if all[Processes] == "" {
		if why := processLimit(o, all, p.bind(p.has(MountNS)) == byKeeper); why != "" {
			if o.Alone != nil {
				why = "a candidate may have no other process, but any number of threads: " + why
			}
			all[Processes] = why
		}
	}
	return newReport(p.want, all)
}

// ContainReport returns the mechanisms in force in a process started by Contain.
func (p *Plan) ContainReport() isolation.Report {
	missing := with(p.missing, nil)
	if p.level != isolation.None && p.bind(true) == byWatch {
		missing[Processes] = "nothing binds beforehand here, so too many are only seen and ended"
	}
	return newReport(p.want, missing)
}

// processLimit returns why nothing limits the number of processes, or "".
func processLimit(o Orders, missing map[isolation.Mechanism]string, asked bool) string {
	switch {
	case o.ProcLimit == 0 && missing[Seccomp] != "":
		return "needs seccomp"
	case o.ProcLimit == 0 || o.PIDMax > 0 && missing[MountNS] == "" || asked:
		return ""
	case o.Root && !pidMaxByNamespace():
		return "root is exempt from it, and pid_max is one for all namespaces before Linux 6.14"
	case o.Root:
		return "root is exempt from it, and lowering pid_max needs a pid namespace and private mounts"
	case missing[UserNS] != "":
		return "it would count all of the user's processes: needs a user namespace"
	}
	return ""
}

// pidMaxByNamespace reports whether each pid namespace has its own pid_max. If not, lowering it would affect the whole
// machine.
func pidMaxByNamespace() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	var major, minor int
	release, _, _ := strings.Cut(unix.ByteSliceToString(u.Release[:]), "-")
	if n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor); n != 2 {
		return false
	}
	return major > 6 || major == 6 && minor >= 14
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
