package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// What callers ask of an error, a record of it answers the same, also after it was JSON.
func TestErrorRecord(t *testing.T) {
	refused := llm.TraceOf(llm.WithTrace(t.Context(),
		&llm.Trace{Send: func(string) error { return errors.New("the disk is full") }})).Send("")
	busy := &llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, Endpoint: "http://h/v1", Code: 429,
		RetryAfter: time.Second, Err: errors.New("slow down")}
	for _, tt := range []struct {
		reason string
		err    error
	}{
		{"a word", errors.New("odd")},
		{"an Error with all its fields", busy},
		{"an Error in a chain", fmt.Errorf("%w (tried 3 times)", busy)},
		{"the model is unavailable, and no Error says so", fmt.Errorf("no GPU: %w", llm.ErrUnavailable)},
		{"an Error whose cause says so", &llm.Error{Status: llm.Failed, Kind: llm.KindOther,
			Err: fmt.Errorf("no GPU: %w", llm.ErrUnavailable)}},
		{"an Error that is not, beside one that is", fmt.Errorf("%w, and %w", busy, llm.ErrUnavailable)},
		{"a deadline, and no Error says so", fmt.Errorf("waiting: %w", context.DeadlineExceeded)},
		{"given up", &llm.Error{Status: llm.Canceled, Err: fmt.Errorf("the caller: %w", context.Canceled)}},
		{"a run that ends", fmt.Errorf("%w (not tried again: %w)", busy, llm.ErrDraining)},
		{"refused by a trace", fmt.Errorf("%w (not tried again: %w)", busy, refused)},
	} {
		var r llm.ErrorRecord
		line, err := json.Marshal(llm.NewErrorRecord(tt.err))
		if err == nil {
			err = json.Unmarshal(line, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		back := r.Err()
		if back.Error() != tt.err.Error() || llm.StatusOf(back) != llm.StatusOf(tt.err) ||
			llm.Unavailable(back) != llm.Unavailable(tt.err) || llm.Retryable(back) != llm.Retryable(tt.err) {
			t.Errorf("%s: %v (%s, unavailable %t, retryable %t) is not %v", tt.reason, back, llm.StatusOf(back),
				llm.Unavailable(back), llm.Retryable(back), tt.err)
		}
		for _, is := range []error{llm.ErrUnavailable, llm.ErrDraining, context.DeadlineExceeded, context.Canceled} {
			if errors.Is(back, is) != errors.Is(tt.err, is) {
				t.Errorf("%s: is %q %t, was not", tt.reason, is, errors.Is(back, is))
			}
		}
		was, isError := errors.AsType[*llm.Error](tt.err)
		now, isStill := errors.AsType[*llm.Error](back)
		if isError != isStill || isError && (now.Error() != was.Error() || now.Code != was.Code ||
			now.RetryAfter != was.RetryAfter || now.Kind != was.Kind) {
			t.Errorf("%s: is %+v, was %+v", tt.reason, now, was)
		}
	}
	if r := llm.NewErrorRecord(nil); r != nil || r.Err() != nil {
		t.Errorf("no error: record %v, error %v", r, r.Err())
	}
}

func ExampleErrorRecord() {
	err := fmt.Errorf("generation 3: %w", &llm.Error{Status: llm.Failed, Kind: llm.KindRateLimit, Code: 429,
		Err: errors.New("slow down")})
	line, _ := json.Marshal(llm.NewErrorRecord(err))
	fmt.Printf("%s\n", line)
	var r llm.ErrorRecord
	_ = json.Unmarshal(line, &r)
	fmt.Println(r.Err(), llm.Retryable(r.Err()))
	// Output:
	// {"text":"generation 3: llm: slow down","status":"error","kind":"rate_limit","code":429,"cause":"slow down"}
	// generation 3: llm: slow down true
}
