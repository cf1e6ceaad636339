package python

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParseReply(t *testing.T) {
	for _, c := range []struct {
		line string
		want reply
		err  error
		why  string
	}{
		{"7 0 1500 1", reply{0, 1500 * time.Microsecond, true}, nil, "a candidate that ended well"},
		{"7 9 0 0", reply{9, 0, false}, nil, "one that was killed and left something"},
		{"6 0 1500 1", reply{}, errDied, "the answer for another candidate"},
		{"07 0 1500 1", reply{}, errDied, "no number as it is written"},
		{"0 1 1", reply{}, errDied, "no number at all"},
		{"7 0 1500 2", reply{}, errDied, "neither clean nor not"},
		{"7 0 1500 1 1", reply{}, errDied, "one word too many"},
		{"7 -1 1500 1", reply{}, errDied, "a status that no process has"},
		{"7 0 99999999999999999999 1", reply{}, errDied, "a time that no process had"},
		{"", reply{}, errDied, "nothing"},
		{"\xff", reply{}, errDied, "no text"},
		{"7 cannot fork: too few", reply{}, errFork, "there is no process, which may pass"},
		{"6 cannot fork: too few", reply{}, errDied, "there was none for another"},
	} {
		got, err := parseReply(c.line, 7)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q is %+v, %v, want %+v, %v", c.why, c.line, got, err, c.want, c.err)
		}
	}
	if _, err := parseReply(strings.Repeat("x", 1<<20), 7); len(err.Error()) > 500 {
		t.Errorf("an error has %d bytes", len(err.Error()))
	}
}

// TestBabbling replaces an interpreter that answers what it never answers, and blames the candidate only
// if a fresh one does so as well.
func TestBabbling(t *testing.T) {
	t.Parallel()
	const answers = `self.control.write(b"%d %d %d %d" % (n, status, used, clean))`
	for name, babble := range map[string]string{
		"malformed":      `self.control.write(b"\xff")`,
		"another's":      `self.control.write(b"%d 0 0 1" % (n + 1))`,
		"two answers":    `self.control.write(b"%d 0 0 1\n%d 0 0 1" % (n, n + 1))`,
		"without an end": `self.control.socket.sendall(b"x" * (1 << 20))`,
		"ends":           `os._exit(3)`,
		"fails":          `raise ValueError("x" * 100000)`,
	} {
		for _, always := range []bool{false, true} {
			r := newTestRunner(t, Config{Workers: 1, Imports: []string{}})
			good := r.pool.kind.code
			replace(t, r, answers, babble)
			if !always {
				r.pool.kind.code = good
			}
			out, err := r.Run(t.Context(), "def run(): return 1", "run")
			if !always && (err != nil || string(out) != "1") {
				t.Errorf("%s, once: got %s, %v", name, out, err)
			}
			if always && (err == nil || err.Error() != "ended the interpreter that ran it, twice") {
				t.Errorf("%s, always: got %s, %v", name, out, err)
			}
		}
	}
}

// replace puts an interpreter whose harness has new in place of old into the pool of r.
func replace(t *testing.T, r *Runner, old, new string) {
	t.Helper()
	quoted := func(s string) []byte {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return text[1 : len(text)-1]
	}
	if !bytes.Contains(r.pool.kind.code, quoted(old)) {
		t.Fatalf("the harness has no %s", old)
	}
	r.pool.kind.code = bytes.Replace(r.pool.kind.code, quoted(old), quoted(new), 1)
	z, _, err := startZygote(t.Context(), r.pool.kind)
	if err != nil {
		t.Fatal(err)
	}
	for _, z := range r.pool.idle {
		if err := z.close(); err != nil {
			t.Error(err)
		}
	}
	r.pool.idle = []*zygote{z}
}
