package sandboxtest

import (
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Typed is the line that waits to be read.
const Typed = "a password that the user types\n"

// OpenTerminal opens a terminal that a user seems to type at, types a line, and returns the terminal's name in /dev.
// The terminal belongs to whoever runs the test, and is closed with it. Without terminals the test is skipped.
func OpenTerminal(t *testing.T) (name string, terminal *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals: ", err)
	}
	t.Cleanup(func() { _ = user.Close() }) // which hangs up the terminal
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	name = "/dev/pts/" + strconv.Itoa(number)
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("no terminals: ", err)
	}
	terminal = os.NewFile(uintptr(fd), name)
	t.Cleanup(func() { _ = terminal.Close() })
	if _, err := user.WriteString(Typed); err != nil {
		t.Fatal(err)
	}
	return name, terminal
}

// Untouched fails the test unless the line that was typed is still there to be read.
func Untouched(t *testing.T, terminal *os.File) {
	t.Helper()
	if err := terminal.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := terminal.Read(buf)
	if string(buf[:n]) != Typed {
		t.Errorf("of what was typed %q is left, %v", buf[:n], err)
	}
}
