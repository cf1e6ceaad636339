package layers_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/openai"
)

// A program that searches in layers over HTTP is killed at random instants and resumed each time. The result is that of a
// run that nobody disturbed, and every answer is paid for once.
func TestSIGKILL(t *testing.T) {
	killtest.Main(func(dir string, args []string) error {
		client, err := openai.New(openai.Config{BaseURL: args[0], Model: llm.Models()[0]})
		if err != nil {
			return err
		}
		data, _ := layeredRun(t, filepath.Join(dir, "run.journal"), llm.Retry(llm.Limit(client, 4), llm.RetryConfig{}))
		return os.WriteFile(filepath.Join(dir, "result.json"), data, 0o600)
	})
	srv, sent := killtest.Serve(t, writer)
	whole, took := killtest.Undisturbed(t, srv.URL)
	needed := sent.Swap(0)
	killed, _ := killtest.Killed(t, 4, took, srv.URL)
	if n, lost := sent.Load(), int64(killtest.Lost(t, filepath.Join(killed, "run.journal"))); n > needed+lost {
		t.Errorf("%d requests are sent, %d are needed and %d were under way at kills", n, needed, lost)
	}
	if diff := cmp.Diff(killtest.Saved(t, whole), killtest.Saved(t, killed)); diff != "" {
		t.Errorf("the killed run comes to another result (-undisturbed +killed):\n%.3000s", diff)
	}
}
