//go:build unix && !solaris && !aix

package report_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve/report"
)

// killedEnv is set in a process that is to be killed while it saves, to the path that it saves to.
const killedEnv = "EVOALLOC_TEST_SAVE"

func TestMain(m *testing.M) {
	if path := os.Getenv(killedEnv); path != "" {
		report.Save(path, marshals(func() ([]byte, error) {
			fmt.Println("saving")
			time.Sleep(time.Hour) // a bare select would be a deadlock to the runtime, which sometimes ends the process for it
			return nil, nil
		}))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// saving starts a process that is busy saving to path until it is killed.
func saving(t *testing.T, path string) (kill func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), killedEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "saving\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return kill
}

// What a process leaves that is killed while it saves, the next that saves or checks removes, and nothing
// else.
func TestLeavingsAreRemoved(t *testing.T) {
	for name, next := range map[string]func(path string) error{
		"CheckWritable": report.CheckWritable,
		"Save":          func(path string) error { return report.Save(path, 1) },
		"SaveFile":      func(path string) error { return report.SaveFile(path, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "result.json")
			for _, others := range []string{".result.json.1.json", ".result.json.", ".result.json.x1", "result.json.1",
				".result.js.1", ".result.json.1/2"} {
				if err := report.SaveFile(filepath.Join(dir, others), nil); err != nil {
					t.Fatal(err)
				}
			}
			before := len(names(t, dir))
			kill := saving(t, path)
			if n := len(names(t, dir)); n != before+1 {
				t.Fatalf("%d files while another process saves, want %d", n, before+1)
			}
			// The other process is alive: its file stays.
			if err := report.CheckWritable(path); err != nil {
				t.Fatal(err)
			}
			if n := len(names(t, dir)); n != before+1 {
				t.Fatalf("%d files beside a process that saves, want %d", n, before+1)
			}
			kill()
			if err := next(path); err != nil {
				t.Fatal(err)
			}
			os.Remove(path)
			if left := names(t, dir); len(left) != before {
				t.Errorf("left: %v", left)
			}
		})
	}
}
