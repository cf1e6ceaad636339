//go:build unix

package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A second Ctrl-C ends a process at once, also one for which a shell ignores Ctrl-C as it runs in the background.
func TestSecondInterrupt(t *testing.T) {
	const child = "EVOALLOC_TEST_STOPS"
	if os.Getenv(child) != "" {
		os.Exit(Main(func(ctx context.Context, _ []string) error {
			fmt.Println("begun")
			<-ctx.Done()
			fmt.Println("stopping")
			select {}
		}))
	}
	for _, shell := range []string{`exec "$0" -test.run='^TestSecondInterrupt$'`,
		`trap "" INT; exec "$0" -test.run='^TestSecondInterrupt$'`} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // of a process that does not end
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", shell, os.Args[0])
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitCanceled {
			t.Errorf("%s: %v", shell, err)
		}
	}
}
