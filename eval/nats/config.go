package nats

import (
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
	// Task is what programs are scored on. Workers with another digest do not get them.
	Task Task
	// InFlight is how many jobs are queued or under way at once. Further evaluations wait in this process. An eighth
	// more than the workers have slots keeps these busy. 0 means 256.
	InFlight int
	// Lost is how long a worker may be silent before its job goes to another, at least 1 s. Take one and a half times the
	// longest cut of the network that must cost nothing. 0 means 15 s.
	Lost time.Duration
	// Timeout bounds what a worker spends on one job, if the evaluator's own limits fail. The job then goes to another
	// worker, as if this one had died. 0 means an hour.
	Timeout time.Duration
	// Deaths is how many workers may end, hang or be cut off with a program before it is invalid. The first time does
	// not count, as a program beside it may be the cause. 0 means 5.
	Deaths int
	// Run names the run: the path of its journal, say. A run that was killed and goes on under the same name, with the
	// same Lost, Timeout and Deaths, finds the jobs that it had queued, so none is evaluated twice. Runs at the same time
	// must have different names: the first to close removes the jobs of the other, which queues them again after some ten
	// seconds, and has evaluated again what was under way. "" means a new name each time.
	Run string
	// Apart names results that are not shared with runs of another Apart. "" shares them with all that have none.
	Apart string
	// Unserved is how long the first job may wait for a worker of the task before its evaluation fails. 0 means 5 s.
	Unserved time.Duration
	// Gone is how long jobs may wait, once there were workers, while all of them are gone or out of reach. 0 means 10
	// minutes, and less than 0 forever.
	Gone time.Duration
	// Limits bound what the server keeps.
	Limits Limits
	// Logger logs workers that come and go, and what is refused. nil means slog.Default.
	Logger *slog.Logger
}

// minLost is the least Lost, as a heartbeat every fifth of it has to get through.
const minLost = time.Second

func (c Config) filled() (Config, error) {
	var err error
	if c.Server, err = c.Server.filled(); err != nil {
		return c, err
	}
	if err := c.Task.validate(); err != nil {
		return c, err
	}
	c.InFlight, c.Deaths = or(c.InFlight, 256), or(c.Deaths, 5)
	c.Lost, c.Timeout = or(c.Lost, 15*time.Second), or(c.Timeout, time.Hour)
	c.Unserved, c.Gone = or(c.Unserved, 5*time.Second), or(c.Gone, 10*time.Minute)
	c.Limits, c.Logger = c.Limits.filled(), or(c.Logger, slog.Default())
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

// or returns v, or what stands for it if it is 0.
func or[T comparable](v, instead T) T {
	var none T
	if v == none {
		return instead
	}
	return v
}

// queueName returns the name of the run's queue, as a token of subjects. What jobs say of deadlines is part of it: a job
// that an earlier process queued with another Lost would be taken from workers that report as it says.
func (c Config) queueName() string {
	if c.Run == "" {
		return random()
	}
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q %s %v %v %d", c.Run, c.Task.Name, c.Task.Digest, c.Lost, c.Timeout, c.Deaths))
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
	// Evaluator scores the programs, and contains them: the worker adds no containment.
	Evaluator eval.Evaluator
	// Slots is how many programs are evaluated at once. 0 means 1.
	Slots int
	// Name is what the worker is called: 1 to 100 printable characters. "" means the host's name and the process's
	// number.
	Name string
	// Grace is how long evaluations under way may go on when the worker is ended. After that they are given back. 0
	// means 10 s, and less than 0 not at all.
	Grace time.Duration
	// Logger logs runs that come and go, and what is refused. nil means slog.Default.
	Logger *slog.Logger
}
