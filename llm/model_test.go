package llm_test

import (
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

func TestModelDefaults(t *testing.T) {
	want := llm.Model{
		Key: "k", Name: "k", ActiveParams: 5,
		MaxTokens: 16000, Timeout: 900 * time.Second, // the sampling is the endpoint's
	}
	if got := (llm.Model{Key: "k", ActiveParams: 5}).WithDefaults(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	want.Temperature = 0.7
	if got := want.WithDefaults(); got != want {
		t.Errorf("values that were set changed: %+v", got)
	}
	if got := llm.PaperSampling(want); got.Temperature != 0.7 || got.TopP != 0.95 {
		t.Errorf("the paper's sampling is %+v", got)
	}
}

func TestModelsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range llm.Models() {
		if seen[m.Key] || m.ActiveParams <= 0 {
			t.Errorf("%+v: want a key of its own and a number of parameters", m)
		}
		seen[m.Key] = true
	}
}
