package journal

// Raise makes a run that a limit ended go on with a larger one. now is what the run is given;
// larger reports whether now is what it was given then but for a larger limit of the given name. Raise does
// nothing if the file does not tell of a run that is over, or if larger says no.
func (j *Journal) Raise(now Fingerprint, larger func(limit string, then Fingerprint) bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil || !j.final || j.next != j.ran || j.made[j.ran].Kind != Run {
		return nil // or another run of the same journal is at its end
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

// goOn takes the stop back that is the last decision. The run is from now on one that was given f from the
// beginning: what limits it had left room for before is in the file.
func (j *Journal) goOn(f Fingerprint) {
	j.made = j.made[:len(j.made)-1]
	j.made[j.ran].Fingerprint = f
	j.raise, j.final = len(j.made), false
}

// RaisedLater reports whether the decision to be made now was made before a limit was raised, so that what
// had no room then does not bind now.
func (j *Journal) RaisedLater() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next < j.raise
}
