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
		wait := time.Hour
		if c.err == os.ErrDeadlineExceeded {
			wait = 200 * time.Millisecond
		}
		line, err := control.line(time.Now().Add(wait))
		if string(line) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %.100q, %v, want %.100q, %v", c.why, line, err, c.want, c.err)
		}
		_ = control.close()
		<-done
		_ = theirs.Close()
	}
}

// TestFlooded has more and more come on the zygote's socket, which ends the wait for a line before its deadline.
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
	if _, err := control.line(time.Now().Add(time.Hour)); !errors.Is(err, errDied) {
		t.Errorf("got %v", err)
	}
	close(stop)
	_ = unix.Shutdown(control.fd, unix.SHUT_RDWR) // or the writer waits
	<-done
	_ = control.close()
}
