package llm_test

import (
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

func TestModelDefaultsAreThePapers(t *testing.T) {
	want := llm.Model{
		Key: "k", Name: "k", ActiveParams: 5,
		Temperature: 0.4, TopP: 0.95, MaxTokens: 16000, Timeout: 900 * time.Second,
	}
	if got := (llm.Model{Key: "k", ActiveParams: 5}).WithDefaults(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := want.WithDefaults(); got != want {
		t.Errorf("values that were set changed: %+v", got)
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
