package task_test

import (
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/task"
)

// Journals of earlier runs name tasks by digests, so the digest of a task stays what it is; and what a model is asked
// decides it, the name and the evaluator do not.
func TestDigest(t *testing.T) {
	const was = "fe0ba42e639499fe"
	if got := task.Digest(newVowels()); got != was {
		t.Errorf("the digest is %s, and was %s", got, was)
	}
	for _, tt := range []struct {
		reason string
		spec   task.Spec
		same   bool
	}{
		{"another name", task.Spec{Name: "letters", Language: "text", System: "You write texts with many vowels.",
			Initial: "hello"}, true},
		{"another program", task.Spec{Name: "vowels", Language: "text", System: "You write texts with many vowels.",
			Initial: "hallo"}, false},
		{"another prompt", task.Spec{Name: "vowels", Language: "text", System: "You write texts.", Initial: "hello"}, false},
	} {
		tt.spec.Evaluator = eval.Func(vowels)
		other, err := task.New(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		if same := task.Digest(other) == was; same != tt.same {
			t.Errorf("%s: the same digest: %v, want %v", tt.reason, same, tt.same)
		}
	}
}
