package nats

import "fmt"

// A demand is the evaluations that wait for one job, and their result. Evaluations read began and done, and record and
// err once done is closed. The other fields belong to the table.
type demand struct {
	job
	began  chan struct{} // closed when a worker begins the job
	done   chan struct{} // closed when there is a record or an error
	record record
	err    error

	waiters  int
	ended    bool // whether done is closed
	failures int
	failed   map[sender]bool // workers whose evaluators failed with the job
}

// end delivers a result or an error to the evaluations, once.
func (d *demand) end(r record, err error) {
	if !d.ended {
		d.ended, d.record, d.err = true, r, err
		close(d.done)
	}
}

// begin tells the evaluations that a worker evaluates the job.
func (d *demand) begin() {
	if !isClosed(d.began) {
		close(d.began)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// failuresAllowed is how many workers' evaluators may fail with a job.
const failuresAllowed = 3

// failedOn counts a failure of a worker's evaluator. Enough failures end the job with an error, if they are on workers
// of enough keys: a worker that lies can invent workers, but no keys.
func (d *demand) failedOn(from sender, text string, all *workers) {
	if d.failed == nil {
		d.failed = map[sender]bool{}
	}
	keys := map[string]int{}
	for known := range d.failed {
		keys[known.key]++
	}
	if keys[from.key] < failuresAllowed { // more failures from one key are no news
		d.failed[from] = true
		keys[from.key]++
	}
	others := 0
	for key := range all.keys {
		if keys[key] == 0 {
			others++
		}
	}
	d.failures++
	enough := d.failures >= failuresAllowed && len(d.failed) >= min(failuresAllowed, all.len())
	if enough && len(keys) >= min(failuresAllowed, len(keys)+others) {
		d.end(record{}, fmt.Errorf("nats: a job failed %d times, on %d workers, last on %s: %s",
			d.failures, len(d.failed), from.name, text))
	}
}
