package offline

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

var update = flag.Bool("update", false, "write the golden file")

// prompts are of all kinds that the model tells apart, and of those that it has abilities for.
var prompts = []struct {
	name     string
	messages []llm.Message
}{
	{"javascript", request(0, "sys", "javascript", code).Messages},
	{"python", request(0, "sys", "python", "def f(x):\n    return [0.5 * x, -3, 1e-3]  # 7\n").Messages},
	{"go", request(0, "", "go", "func f() []float64 { return []float64{1, 2.5, 0} }").Messages},
	{"untagged", request(0, "", "", "return 0.25 * x").Messages},
	{"text", []llm.Message{{Role: llm.User, Content: "What worked so far? Summarise the attempts."}}},
	{"no numbers", request(0, "", "js", "f(x)").Messages},
	{"cross", []llm.Message{{Role: llm.System, Content: "s"},
		{Role: llm.User, Content: "Program 1 of 2, with score 0.5:\n\n" +
			task.Fence(code, "js") + "\n\nProgram 2 of 2, with score 0.25:\n\n" +
			task.Fence("const a = [1, 2];\nreturn a[0] / 3", "js") +
			"\n\nNotes on earlier attempts:\n\n> prefer a ratio\n\nCombine them. Only tune constants. Fix line 2.\nThe program to change is program 1.\n"}}},
	{"summary", []llm.Message{{Role: llm.User, Content: "Attempt 1, with score 0.5:\n\n" + task.Fence(code, "js") +
		"\n\nAttempt 2, with score 0.75:\n\n" + task.Fence("return x / 3", "js") +
		"\n\nSummarise what worked as insights.\n"}}},
}

// What a model answers stays as it was, to the byte: runs are compared with earlier ones, and
// journals hold what it answered.
func TestRepliesStayAsTheyAre(t *testing.T) {
	const path = "testdata/replies.golden"
	var b strings.Builder
	for _, c := range []Config{{}, {Broken: -1}, {Broken: 1}} {
		m := newModel(t, c)
		fmt.Fprintln(&b, m)
		for _, p := range prompts {
			h := sha256.New()
			for seed := range uint32(400) {
				r := generate(t, m, llm.Request{Seed: seed, Messages: p.messages})
				fmt.Fprintf(h, "%q %s %+v\n", r.Text, r.Attempts[0].FinishReason, *r.Attempts[0].Usage)
			}
			fmt.Fprintf(&b, "%s: %x\n", p.name, h.Sum(nil)[:8])
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("replies have changed:\n%s\nwant\n%s", b.String(), want)
	}
}
