package step

import (
	"errors"
	"fmt"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/llm"
)

// What each error means for the search and the run, however it is wrapped.
func TestMeanings(t *testing.T) {
	why := errors.New("why")
	for _, tt := range []struct {
		reason  string
		err     error
		limit   string
		refused bool
		ends    bool
	}{
		{"nothing", nil, "", false, false},
		{"an error of one call", why, "", false, false},
		{"no room", &Refused{"Calls"}, "Calls", true, false},
		{"the run is coming to an end", llm.ErrDraining, "", true, false},
		{"what a doomed step asks for is asked for again, whatever the fault", &Doomed{&Refused{"Calls"}}, "", true, false},
		{"a doomed step ends the run with its fault", &Doomed{&EvaluationError{why}}, "", true, true},
		{"evaluation failed", &EvaluationError{why}, "", false, true},
		{"one evaluation is lost", &Lost{why}, "", false, false},
		{"no call was ever answered", &Unheard{6, why}, "", false, true},
		{"the journal cannot be written", record.ErrWrite, "", false, true},
		{"the journal tells of another run", record.ErrDiverged, "", false, true},
		{"a call that was given up means what it means now", &Abandoned{why, &Refused{"Money"}}, "Money", true, false},
	} {
		err := tt.err
		if err != nil {
			err = fmt.Errorf("step 3: %w", err)
		}
		if limit, refused := Refusal(err); limit != tt.limit || refused != tt.refused {
			t.Errorf("%s: refused by %q: %v", tt.reason, limit, refused)
		}
		if got := EndsRun(err); got != tt.ends {
			t.Errorf("%s: ends the run: %v", tt.reason, got)
		}
	}
	if !IsLost(&Lost{why}) || IsLost(&EvaluationError{why}) || OfEvaluation(&Lost{why}) {
		t.Error("a lost evaluation and evaluation that fails are taken for each other")
	}
	if got := (&Abandoned{why, &Refused{"Money"}}).Error(); got != "why" {
		t.Errorf("a call that was given up says %q, not what it said then", got)
	}
}
