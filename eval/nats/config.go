package nats

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"github.com/evoalloc/evoalloc/eval"
)

// Config configures an [Evaluator]. Server and Task are needed, and the rest has defaults.
type Config struct {
	Server Server
	// Task is what programs are scored on. Workers with another digest get none of its programs.
	Task Task
	// InFlight bounds the jobs queued or under way at once; further evaluations wait in this process. An eighth more than
	// the workers' slots keeps all slots busy. 0 means 256.
	InFlight int
	// Lost is how long a worker may be silent before its job goes to another, at least 1 s. Choose one and a half times
	// the longest network outage that must cost nothing. 0 means 15 s.
	Lost time.Duration
	// Timeout bounds a worker's time on one job, in case the evaluator's own limits fail. The job then goes to another
	// worker, as if the first had died. 0 means an hour.
	Timeout time.Duration
	// Deaths is how many workers may end, hang or be cut off while they evaluate a program before the program is invalid.
	// The first does not count, since another program on that worker may be the cause. 0 means 5.
	Deaths int
	// Run names the run: the path of its journal, say. A killed run that resumes under the same name, with the same Lost,
	// Timeout and Deaths, finds the jobs that it had queued, so none is evaluated twice. Simultaneous runs must have
	// different names: otherwise the first to close removes the jobs of the other, which queues them again after some ten
	// seconds and repeats the evaluations that were under way. "" means a new name each time.
	Run string
	// Apart separates results: only runs with the same Apart share them. "" shares with all runs that have none.
	Apart string
	// Unserved is how long the first job may wait for a worker of the task before its evaluation fails. 0 means 5 s.
	Unserved time.Duration
	// Gone is how long jobs may wait after all workers have left or are out of reach. 0 means 10 minutes, less than 0
	// forever.
	Gone time.Duration
	// Logger logs workers that come and go, and what is refused. nil means slog.Default.
	Logger *slog.Logger

	storage storage
}

// minLost is the least Lost: a heartbeat every fifth of it must get through.
const minLost = time.Second

func (c Config) filled() (Config, error) {
	var err error
	if c.Server, err = c.Server.filled(); err != nil {
		return c, err
	}
	if err := c.Task.validate(); err != nil {
		return c, err
	}
	c.InFlight, c.Deaths = cmp.Or(c.InFlight, 256), cmp.Or(c.Deaths, 5)
	c.Lost, c.Timeout = cmp.Or(c.Lost, 15*time.Second), cmp.Or(c.Timeout, time.Hour)
	c.Unserved, c.Gone = cmp.Or(c.Unserved, 5*time.Second), cmp.Or(c.Gone, 10*time.Minute)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	switch {
	case c.InFlight < 1:
		return c, fmt.Errorf("nats: Config.InFlight is %d: need at least 1", c.InFlight)
	case c.Lost < minLost:
		return c, fmt.Errorf("nats: Config.Lost is %v: need at least %v", c.Lost, minLost)
	case c.Timeout < 0 || c.Unserved < 0:
		return c, fmt.Errorf("nats: Config.Timeout is %v and Unserved %v: need more than 0", c.Timeout, c.Unserved)
	case c.Deaths < 1:
		return c, fmt.Errorf("nats: Config.Deaths is %d: need at least 1", c.Deaths)
	}
	return c, nil
}

// queueName returns the name of the run's queue, as a token of subjects. The name depends on the deadlines in the jobs:
// a job that an earlier process queued with a longer Lost would be taken from workers that report by that Lost.
func (c Config) queueName() string {
	if c.Run == "" {
		return random()
	}
	t := c.Task
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q %s %v %v %d", c.Run, t.Name, t.Digest, c.Lost, c.Timeout, c.Deaths))
	return hex.EncodeToString(h[:8])
}

// random returns 16 random hexadecimal digits.
func random() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// WorkerConfig configures a [Worker]. Server, Task and Evaluator are needed, and the rest has defaults.
type WorkerConfig struct {
	Server Server
	// Task is what Evaluator scores programs on.
	Task Task
	// Evaluator scores and contains the programs: the worker adds no containment.
	Evaluator eval.Evaluator
	// Slots is the number of programs evaluated at once. 0 means 1.
	Slots int
	// Name is the worker's name in logs: 1 to 100 printable characters. "" means the host's name and the process's number.
	Name string
	// Grace is how long evaluations under way may go on when the worker is stopped; after that their jobs are given back.
	// 0 means 10 s, less than 0 no grace.
	Grace time.Duration
	// Logger logs runs that come and go, and what is refused. nil means slog.Default.
	Logger *slog.Logger
	// Serving is called by Run once the worker is connected and takes jobs. nil means no call.
	Serving func()
}
