package evolve

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// raisable are the limits that end a run from without and decide nothing before: a run that one of them
// ended goes on with a larger one as if it had only paused. Calls decide how many children the last
// generations have; Rounds, RoundsPerArm, Patience and Target what is searched; and a program that EvalTime
// left no room for stays without a score. Those stand.
var raisable = [...]string{"Stalls", "Tokens", "FLOPs", "Money", "WallTime"}

// raise makes a run that is over go on, if now differs from what the run was given in nothing but that the
// limit that ended it is larger.
func (j *Journal) raise(now Fingerprint) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil || !j.final || j.next != j.ran {
		return nil // or another run of the same journal is at its end
	}
	limit := j.decisions[len(j.decisions)-1].Limit
	if !j.raisable(now, limit) {
		return nil
	}
	p, err := j.append(&Record{Kind: RecordRaise, Fingerprint: now, Limit: limit})
	if err == nil {
		err = j.sync(p)
	}
	if err == nil {
		j.goOn(now)
	}
	return err
}

// raisable reports whether the last decision is a stop by the given limit and now is what the run was given,
// but for a larger limit.
func (j *Journal) raisable(now Fingerprint, limit string) bool {
	if !j.final || !slices.Contains(raisable[:], limit) || j.decisions[j.ran].Kind != RecordRun {
		return false
	}
	stop, then := j.decisions[len(j.decisions)-1], j.decisions[j.ran].Fingerprint
	name := "Budget." + limit
	but := maps.Clone(now)
	but[name] = then[name]
	return stop.Stop == StopBudget && stop.Limit == limit && maps.Equal(then, but) && limitOf(now[name]) > limitOf(then[name])
}

// limitOf returns a limit as a fingerprint holds it, in seconds if it is a time; NaN, which is neither larger
// nor smaller than any, if it is none.
func limitOf(text string) float64 {
	if text == noLimit {
		return math.Inf(1)
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds()
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	return math.NaN()
}

// goOn takes the stop back that is the last decision. The run is from now on one that was given f from the
// beginning: what limits it had left room for before is in the file.
func (j *Journal) goOn(f Fingerprint) {
	j.decisions = j.decisions[:len(j.decisions)-1]
	j.decisions[j.ran].Fingerprint = f
	j.raised, j.final = len(j.decisions), false
}

// raisedLater reports whether the decision to be made now was made before a limit was raised, so that what
// had no room then says nothing of now.
func (j *Journal) raisedLater() bool {
	if j == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next < j.raised
}
