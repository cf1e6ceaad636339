//go:build unix

package python

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestControl reads lines from a zygote that sends what it should not.
func TestControl(t *testing.T) {
	for _, c := range []struct {
		sent string
		want string
		err  error
		why  string
	}{
		{"a\nb\n", "a", nil, "two lines"},
		{"\n", "", nil, "an empty line"},
		{"a", "", os.ErrDeadlineExceeded, "no end"},
		{strings.Repeat("x", maxLine) + "\n", strings.Repeat("x", maxLine), nil, "the longest line"},
		{strings.Repeat("x", 1<<20), "", errDied, "more than a line may have"},
	} {
		var control control
		theirs, err := control.open()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = theirs.WriteString(c.sent) // which ends early where too much is not read
		}()
		line, err := control.line(time.Now().Add(200 * time.Millisecond))
		if string(line) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %.100q, %v, want %.100q, %v", c.why, line, err, c.want, c.err)
		}
		_ = control.close()
		<-done
		_ = theirs.Close()
	}
}

// TestFlooded has more and more come on the zygote's socket, and wants the deadline to be kept.
func TestFlooded(t *testing.T) {
	var control control
	theirs, err := control.open()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for line := bytes.Repeat([]byte("7"), 100); ; {
			select {
			case <-stop:
				return
			default:
				_, _ = theirs.Write(line)
			}
		}
	}()
	begin := time.Now()
	if _, err := control.line(begin.Add(time.Minute)); !errors.Is(err, errDied) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %v to see that too much comes", took)
	}
	close(stop)
	_ = unix.Shutdown(control.fd, unix.SHUT_RDWR) // or the writer waits
	<-done
	_ = control.close()
}
