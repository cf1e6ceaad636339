package pool

import (
	"errors"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A step is one thing that happens to a breaker, and what it must say then.
type step struct {
	at     time.Duration
	do     string // what the calls came to: o ok, s stall, e error, c canceled, g gone, r Retry-After of 30 s, R of an hour; P before it: as a probe
	health Health
	until  time.Duration // of the quarantine
}

func TestBreaker(t *testing.T) {
	s := time.Second
	for _, tt := range []struct {
		reason string
		steps  []step
	}{
		{"too few attempts open nothing", []step{{0, "ssss", Healthy, 0}}},
		{"half of the window does", []step{{0, "oooooossss", Healthy, 0}, {s, "s", Quarantined, 6 * s}}},
		{"what is older than the window is forgotten", []step{
			{0, "eeee", Healthy, 0}, {0, "oooooooooo", Healthy, 0}, {0, "eeee", Healthy, 0}, {s, "e", Quarantined, 6 * s}}},
		{"stalls count as failures too: three and two are half of ten", []step{
			{0, "ooooossse", Healthy, 0}, {s, "e", Quarantined, 6 * s}}},
		{"calls given up say nothing", []step{{0, "cccccccccccccssss", Healthy, 0}}},
		{"gone at once", []step{{0, "oooooooooo", Healthy, 0}, {s, "g", Quarantined, 6 * s}}},
		{"as long as Retry-After asks", []step{{s, "r", Quarantined, 31 * s}, {31 * s, "Po", Healthy, 0}}},
		{"but no longer than the longest quarantine", []step{{s, "R", Quarantined, 121 * s}}},
		{"a probe that is answered closes it, with a clean slate", []step{
			{0, "eeeee", Quarantined, 5 * s}, {5 * s, "Po", Healthy, 0}, {6 * s, "eeee", Healthy, 0}}},
		{"a probe that is not doubles the quarantine, up to the longest", []step{
			{0, "eeeee", Quarantined, 5 * s}, {5 * s, "Ps", Quarantined, 15 * s}, {15 * s, "Pe", Quarantined, 35 * s},
			{35 * s, "Pg", Quarantined, 75 * s}, {75 * s, "Ps", Quarantined, 155 * s}, {155 * s, "Ps", Quarantined, 275 * s}}},
		{"once it was back, it begins anew", []step{
			{0, "eeeee", Quarantined, 5 * s}, {5 * s, "Ps", Quarantined, 15 * s}, {15 * s, "Po", Healthy, 0},
			{20 * s, "eeeee", Quarantined, 25 * s}}},
		{"a probe given up leaves it to the next call", []step{
			{0, "eeeee", Quarantined, 5 * s}, {6 * s, "Pc", Quarantined, 5 * s}}},
	} {
		b := &breaker{first: defaultQuarantine, health: Healthy}
		zero := time.Unix(0, 0)
		for i, st := range tt.steps {
			play(b, zero.Add(st.at), st.do)
			if b.health != st.health {
				t.Errorf("%s: step %d: %s, want %s", tt.reason, i, b.health, st.health)
			}
			if st.health == Quarantined && b.until.Sub(zero) != st.until {
				t.Errorf("%s: step %d: until %v, want %v", tt.reason, i, b.until.Sub(zero), st.until)
			}
			if st.health == Quarantined && (b.due(b.until.Add(-1)) || !b.due(b.until)) {
				t.Errorf("%s: step %d: a probe is due at another time than %v", tt.reason, i, st.until)
			}
		}
	}
}

func play(b *breaker, now time.Time, do string) {
	probe := do[0] == 'P'
	if probe {
		b.health, do = Probing, do[1:]
	}
	for _, c := range do {
		v := verdict{err: errors.New("x")}
		switch c {
		case 'o':
			v = verdict{classes: []llm.Class{llm.Real}}
		case 's':
			v.classes = []llm.Class{llm.Stall}
		case 'e':
			v.classes = []llm.Class{llm.Errored}
		case 'c':
			v.silent = true
		case 'g':
			v.classes, v.gone = []llm.Class{llm.Errored}, true
		case 'r':
			v.classes, v.rest = []llm.Class{llm.Errored}, 30*time.Second
		case 'R':
			v.classes, v.rest = []llm.Class{llm.Errored}, time.Hour
		}
		b.note(now, b.epoch, probe, v)
	}
}

// What was sent before a quarantine ends during it or after it, and is no news either way.
func TestBreakerIgnoresOtherEpochs(t *testing.T) {
	b := &breaker{first: defaultQuarantine, health: Healthy}
	now := time.Unix(0, 0)
	play(b, now, "eeeee")
	until := b.until
	for range 20 {
		b.note(now.Add(time.Second), b.epoch-1, false, verdict{classes: []llm.Class{llm.Stall}, err: errors.New("late"),
			gone: true})
		b.note(now.Add(time.Second), b.epoch-1, false, verdict{classes: []llm.Class{llm.Real}})
	}
	if b.health != Quarantined || b.until != until || b.epoch != 1 {
		t.Errorf("%s until %v in epoch %d after late outcomes", b.health, b.until, b.epoch)
	}
}
