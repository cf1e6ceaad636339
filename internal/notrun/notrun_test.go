package notrun

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// inner is set where these tests run themselves.
const inner = "EVOALLOC_NOTRUN_INNER"

func TestMain(m *testing.M) {
	if os.Getenv(inner) != "" {
		Say("internal/notrun", "nothing", errors.New("a test\nof this"), "do nothing")
	}
	os.Exit(m.Run())
}

// TestInner is run by TestSay.
func TestInner(t *testing.T) {
	if os.Getenv(inner) == "" {
		return
	}
	Skip(t)
	t.Error("Skip returned")
}

// goTest runs TestInner by the go command and returns what it printed.
func goTest(t *testing.T, ci string, flags ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.Command("go", append(append([]string{"test", "-run", "^TestInner$"}, flags...), ".")...)
	cmd.Env = append(os.Environ(), inner+"=1", "CI="+ci)
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err = cmd.Run()
	return out.String(), complaints.String(), err
}

// TestSay looks at what somebody sees who runs all tests.
func TestSay(t *testing.T) {
	want := Line("internal/notrun", "nothing", errors.New("a test of this"), "do nothing") + "\n"
	out, complaints, err := goTest(t, "", "-count=1")
	if err != nil || !strings.HasPrefix(out, "ok") {
		t.Fatalf("%v: %s%s", err, out, complaints)
	}
	if runtime.GOOS == "linux" && strings.Count(complaints, want) != 1 {
		t.Errorf("standard error is %q, want %q once", complaints, want)
	}
	out, complaints, err = goTest(t, "", "-count=1", "-v")
	if err != nil || strings.Count(out, want) != 1 || strings.Contains(complaints, want) {
		t.Errorf("with -v, %v: %q and %q, want the line once", err, out, complaints)
	}
}

// TestSkipFails where CI is true, also if the go command remembers that it passed where it was not.
func TestSkipFails(t *testing.T) {
	if out, complaints, err := goTest(t, ""); err != nil {
		t.Fatalf("%v: %s%s", err, out, complaints)
	}
	if out, _, err := goTest(t, "true"); err == nil || !strings.Contains(out, "FAIL: TestInner") {
		t.Errorf("%v: %q", err, out)
	}
}

func TestLine(t *testing.T) {
	const want = "eval/x: not run: attacks (no x: none); to run them: get x && go test -count=1 ./eval/x"
	if got := Line("eval/x", "attacks", errors.New("no x:\n none"), "get x"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
