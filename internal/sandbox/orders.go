package sandbox

import (
	"cmp"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// Bounds are the limits on what a contained process may use.
type Bounds struct {
	CPU          time.Duration // of one process; rounded up to seconds
	Memory       int64         // bytes of address space that one process may add
	FileBytes    int64         // size of one file
	ScratchBytes int64         // size of the temporary folder, where it is in memory
	OpenFiles    int           // open files of one process
	Processes    int           // processes at once; 0 means none but its own
	Threads      int           // threads at once where there are no other processes; 0 means no limit
	Itself       bool          // on Linux, the process that Contain starts becomes the command, whose id is then known
}

// tasks returns the limit on simultaneous processes and threads; 0 means none. Threads must be limited even if a
// candidate may have no other process: systems and containers limit all tasks of a user together, so one candidate's
// threads could leave no room for another's process.
func (b Bounds) tasks() int { return cmp.Or(b.Processes, b.Threads) }

// Seconds returns the limit on CPU time in whole seconds, as the kernel wants it; 0 means none.
func (b Bounds) Seconds() uint64 { return uint64((b.CPU + time.Second - 1) / time.Second) }

// Orders tell a capable process how to confine itself; harness/confine.py in eval/python carries them out.
type Orders struct {
	Isolate      bool              `json:"isolate"`
	Root         bool              `json:"root"`
	UserNS       bool              `json:"userns"` // made for it already
	PIDNS        bool              `json:"pidns"`
	MountNS      bool              `json:"mountns"`
	Numbers      map[string]int    `json:"numbers"`  // of syscalls
	Landlock     *LandlockOrders   `json:"landlock"` // nil: none
	Filters      map[string][]byte `json:"filters"`  // for all: "mounted" if private mounts came about, else "plain"
	Alone        []byte            `json:"alone"`    // a filter on top, for those that may have no other processes
	Scratch      string            `json:"scratch"`  // the folder that may be written to
	ScratchBytes int64             `json:"scratch_bytes"`
	ScratchFiles int               `json:"scratch_files"`
	Hidden       []string          `json:"hidden"`     // what cannot be read
	Shm          bool              `json:"shm"`        // give it a /dev/shm of its own
	Devices      []string          `json:"devices"`    // what /dev is to hold, with private mounts
	ProcLimit    int               `json:"proc_limit"` // 0: none
	PIDMax       int               `json:"pid_max"`    // what stands in for ProcLimit for root; 0: nothing
	CPUSeconds   uint64            `json:"cpu_seconds"`
	MemoryBytes  int64             `json:"memory_bytes"`
	FileBytes    int64             `json:"file_bytes"`
	OpenFiles    int               `json:"open_files"`
}

// LandlockOrders are the rules of Landlock to enforce.
type LandlockOrders struct {
	FS       uint64   `json:"fs"`
	Net      uint64   `json:"net"`
	Scoped   uint64   `json:"scoped"`
	Size     uint64   `json:"size"`   // bytes of attributes that this kernel knows
	Folder   uint64   `json:"folder"` // what may be done in the folders that may be written to
	Device   uint64   `json:"device"` // and to the devices
	Devices  []string `json:"devices"`
	Read     uint64   `json:"read"` // and with what may only be read
	Readable []string `json:"readable"`
}

// scratchFiles bounds the files of a temporary folder in memory.
const scratchFiles = 16384

// limits fills in the part of the orders that every system understands.
func (o *Orders) limits(b Bounds) {
	o.ScratchBytes, o.ScratchFiles = b.ScratchBytes, scratchFiles
	o.CPUSeconds, o.MemoryBytes, o.FileBytes, o.OpenFiles = b.Seconds(), b.Memory, b.FileBytes, b.OpenFiles
}

// with returns the union of two sets of reasons; the first has precedence.
func with(a, b map[isolation.Mechanism]string) map[isolation.Mechanism]string {
	out := make(map[isolation.Mechanism]string, len(a)+len(b))
	for m, why := range b {
		out[m] = why
	}
	for m, why := range a {
		out[m] = why
	}
	return out
}
