package python

import (
	"embed"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// The harness is the code that runs inside an interpreter. It is sent on standard input, in this order.
//
//go:embed harness/*.py
var harness embed.FS

var (
	serving = []string{"confine", "rules", "child", "evaluate", "tidy", "serve"}
	probing = []string{"child", "evaluate", "probe"}
)

// bootstrap reads a frame that holds the harness and runs it in one namespace. It removes Python's working directory
// from the module path.
const bootstrap = `import os, sys
if sys.version_info < (3, 9):
    sys.exit("it is Python %d.%d, and 3.9 or newer is needed" % sys.version_info[:2])
sys.path[:] = [p for p in sys.path if p]
import json, struct
def exactly(fd, n):
    data = bytearray()
    while len(data) < n:
        part = os.read(fd, n - len(data))
        if not part: os._exit(0)
        data += part
    return bytes(data)
space = {"__name__": "evoalloc", "exactly": exactly}
for name, source in json.loads(exactly(0, struct.unpack("!I", exactly(0, 4))[0])):
    exec(compile(source, "<evoalloc " + name + ">", "exec"), space)
`

// sources returns the parts of the harness as bootstrap reads them.
func sources(names []string) ([]byte, error) {
	parts := make([][2]string, len(names))
	for i, name := range names {
		text, err := harness.ReadFile("harness/" + name + ".py")
		if err != nil {
			return nil, fmt.Errorf("python: reading the embedded harness: %w", err)
		}
		parts[i] = [2]string{name, string(text)}
	}
	return json.Marshal(parts)
}

// orders are sent once to a zygote, when it starts.
type orders struct {
	sandbox.Orders
	Imports     []string  `json:"imports"`
	OutputBytes int       `json:"output_bytes"` // for a traceback
	ResultBytes int       `json:"result_bytes"`
	Folder      string    `json:"folder"` // of evaluator.py; "" if there is none
	With        []string  `json:"with"`
	Writable    []string  `json:"writable"`
	Suffix      string    `json:"suffix"`
	Files       bool      `json:"files"` // a program is a JSON object of texts by path
	Cascade     bool      `json:"cascade"`
	Tune        bool      `json:"tune"`
	Thresholds  []float64 `json:"thresholds"`
}

// A hello is a zygote's answer to its orders.
type hello struct {
	Missing map[isolation.Mechanism]string `json:"missing"`
	Lacking map[string]string              `json:"lacking"` // modules, and why they cannot be imported
	Failed  string                         `json:"failed"`  // why it cannot go on
	// Why an evaluator's folder and /tmp cannot be written to; "" means that they can.
	Unlayered string `json:"unlayered"`
}

// A job is one candidate.
type job struct {
	task    byte // taskRun, taskEvaluate or taskInspect
	entry   string
	program string
}

// The tasks of a job, as in the harness's TASKS.
const (
	taskRun      = 'R'
	taskEvaluate = 'E'
	taskInspect  = 'I' // only inspect the evaluator
)

// frame returns j as the candidate's process reads it. That process begins its messages with nonce.
func (j job) frame(nonce []byte) []byte {
	n := len(nonce) + 1 + len(j.entry) + 1 + len(j.program)
	data := binary.BigEndian.AppendUint32(make([]byte, 0, 4+n), uint32(n))
	data = append(data, nonce...)
	data = append(data, j.task)
	data = append(data, j.entry...)
	data = append(data, '\n')
	return append(data, j.program...)
}

// frame returns data preceded by its length.
func frame(data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), uint32(len(data))), data...)
}
