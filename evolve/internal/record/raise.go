package record

// Raise makes a run that a limit ended go on with a larger limit. now is what the run is given. larger reports
// whether now differs from what it was given then in a larger limit of the given name alone. Raise does
// nothing if the last run in the file is not over, or if larger reports false.
//
// The journal asks larger and does not decide itself, because it knows no budget.
func (j *Journal) Raise(now map[string]string, larger func(limit string, then map[string]string) bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil || !j.final || j.next != j.ran || j.made[j.ran].Kind != Run {
		return nil // not over, or replay is at another run of this file
	}
	limit := j.made[len(j.made)-1].Limit
	if !larger(limit, j.made[j.ran].Fingerprint) {
		return nil
	}
	p, err := j.append(&Record{Kind: Raise, Fingerprint: now, Limit: limit})
	if err == nil {
		err = j.sync(p)
	}
	if err == nil {
		j.goOn(now)
	}
	return err
}

// goOn revokes the stop, which is the last decision. From now on the run counts as one that was given f from
// the beginning. What the smaller limit left no room for before is in the file as refusals, and stands.
func (j *Journal) goOn(f map[string]string) {
	j.made = j.made[:len(j.made)-1]
	j.made[j.ran].Fingerprint = f
	j.raise, j.final = len(j.made), false
}

// RaisedLater reports whether the decision to be made now was first made before a limit was raised. A limit that
// left no room at this point did not end the run for good, and must not end its replay.
func (j *Journal) RaisedLater() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next < j.raise
}
