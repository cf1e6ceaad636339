package llmtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A spell is a part of a plan: the faults of a request's next occurrences.
type spell struct {
	share  float64 // of the requests
	faults []Fault // one is drawn
	times  int     // occurrences of a request; 0 means all that follow
}

// Parse returns the Config.Fault that text describes: successive spells, separated by commas.
//
//	plan  = spell { "," spell }
//	spell = [ share "%" ] fault { "|" fault } [ ":" times ]
//
// A spell lasts for that many occurrences of a request, or forever. The requests of a share, and the fault if there are
// several, are drawn by [Request.Rand]. So "503:3, hang" refuses a request three times and then hangs, "503:1" fails
// only the first try, and "20% reset|hang" fails a fifth of all requests. [Faults] lists them; "none" is
// a correct answer.
func Parse(text string) (func(Request) Fault, error) {
	var plan []spell
	for part := range strings.SplitSeq(text, ",") {
		s, err := parseSpell(part)
		if err != nil {
			return nil, fmt.Errorf("llmtest: faults %q: %w", text, err)
		}
		if n := len(plan); n > 0 && plan[n-1].times == 0 {
			return nil, fmt.Errorf("llmtest: faults %q: %q has no end, so nothing can follow it", text, plan[n-1].faults)
		}
		plan = append(plan, s)
	}
	return func(r Request) Fault { return drawn(plan, r) }, nil
}

// Must is Parse, but panics on an error.
func Must(text string) func(Request) Fault {
	fault, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return fault
}

func parseSpell(text string) (s spell, err error) {
	s.share = 1
	if share, rest, ok := strings.Cut(text, "%"); ok {
		percent, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if err != nil || !(percent >= 0 && percent <= 100) {
			return s, fmt.Errorf("share %q is not a number from 0 to 100", share)
		}
		s.share, text = percent/100, rest
	}
	if rest, times, ok := strings.Cut(text, ":"); ok {
		if s.times, err = strconv.Atoi(strings.TrimSpace(times)); err != nil || s.times < 1 {
			return s, fmt.Errorf("%q is not a number of occurrences, 1 or more", times)
		}
		text = rest
	}
	for name := range strings.SplitSeq(text, "|") {
		f := Fault(strings.TrimSpace(name))
		if f == "none" {
			f = none
		} else if !slices.Contains(Faults(), f) {
			return s, fmt.Errorf("no fault is called %q", strings.TrimSpace(name))
		}
		s.faults = append(s.faults, f)
	}
	return s, nil
}

// drawn returns the plan's fault for r.
func drawn(plan []spell, r Request) Fault {
	n := r.Occurrence
	for _, s := range plan {
		if s.times > 0 && n >= s.times {
			n -= s.times
			continue
		}
		if s.share == 1 && len(s.faults) == 1 {
			return s.faults[0]
		}
		if rng := r.Rand("llmtest.fault"); rng.Float64() < s.share {
			return s.faults[rng.IntN(len(s.faults))]
		}
		return none
	}
	return none
}
