package python

import (
	"errors"
	"os"
	"testing"
	"time"
)

// A candidate cannot open its folder to other users of the machine, while private mounts or seccomp are there.
func TestFolderStaysClosed(t *testing.T) {
	for _, family := range []string{"nothing", "mounts"} {
		r := without(t, Config{Workers: 1, Timeout: time.Minute}, families[family])
		folder := r.pool.idle[0].scratch
		program := "import os, time\ndef run():\n  open('own', 'w').close()\n  os.chmod('.', 0o777)\n  time.sleep(0.3)\n  return 1\n"
		done := make(chan error)
		go func() {
			_, err := r.Run(t.Context(), program, "run")
			done <- err
		}()
		looks := 0
		for running := true; running; looks++ {
			select {
			case err := <-done:
				if running = false; err != nil {
					t.Errorf("without %s: %v", family, err)
				}
			case <-time.After(10 * time.Millisecond):
			}
			info, err := os.Stat(folder)
			if errors.Is(err, os.ErrNotExist) {
				continue // what was changed of it cost the interpreter
			}
			if err != nil {
				t.Fatal(err)
			}
			if mode := info.Mode().Perm(); mode != 0o700 {
				t.Fatalf("without %s the candidate's folder has mode %o", family, mode)
			}
		}
		if looks < 2 {
			t.Errorf("without %s: looked %d times", family, looks)
		}
	}
}
