//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// A process that is killed while it searches goes on where it was: no request whose answer was in its journal is sent
// again, and the result is that of a run that nobody disturbed.
func TestSIGKILL(t *testing.T) {
	for _, tt := range notrun.Few([]struct{ flags, path string }{
		{"--like adaevolve", "cp/qwen3-8b/adaevolve_C30_T5_N6_seed40.json"},
		{"--like gepa --window 5", "cp/qwen3-8b/gepa_C30_T5_N6_seed40.json"},
		{"--portfolio", "portfolio/cp/qwen3-8b/ei_C30_T5_K4_seed0.json"},
	}, 1) { // many children under way
		args := "populations --model qwen3-8b --T 5 --N 6 --breadth fixed " + tt.flags
		undisturbed, whole := server(t, none), t.TempDir()
		if err := against(t, args, undisturbed, whole).Run(); err != nil {
			t.Fatalf("%s: %v", tt.flags, err)
		}
		var cmd *exec.Cmd
		var mu sync.Mutex
		srv := server(t, func(n int64) llmtest.Fault {
			if n == 9 || n == 22 { // of all processes together
				mu.Lock()
				defer mu.Unlock()
				if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
			return ""
		})
		dir, kills := t.TempDir(), 0
		for kills < 4 {
			mu.Lock()
			life := args
			if kills > 0 {
				life += " --resume"
			}
			cmd = against(t, life, srv, dir)
			err := cmd.Start()
			mu.Unlock()
			if err != nil {
				t.Fatal(err)
			}
			if cmd.Wait() == nil {
				break
			}
			kills++
		}
		if kills != 2 {
			t.Errorf("%s: it was killed %d times, want 2", tt.flags, kills)
		}
		if diff := difference(t, filepath.Join(whole, tt.path), filepath.Join(dir, tt.path)); diff != "" {
			t.Errorf("%s: the killed run comes to another result:\n%s", tt.flags, diff)
		}
		lost := killtest.Lost(t, filepath.Join(dir, strings.TrimSuffix(tt.path, ".json")+".journal"))
		if n := srv.Stats().Calls; n > undisturbed.Stats().Calls+lost {
			t.Errorf("%s: %d requests are sent, %d are needed and %d were under way at kills", tt.flags, n,
				undisturbed.Stats().Calls, lost)
		}
	}
}

// against returns a run in a process of its own, against a server.
func against(t *testing.T, args string, srv *llmtest.Server, dir string) *exec.Cmd {
	cmd := process(t, args+" --api-base "+srv.URL+" --output "+dir)
	cmd.Stderr = os.Stderr
	return cmd
}
