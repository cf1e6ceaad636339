package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// git runs git in dir and returns what it prints.
func git(t testing.TB, dir string, stdin io.Reader, args ...string) (string, error) {
	t.Helper()
	if noGit {
		notrun.Skip(t)
	}
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = plainly()
	cmd.Stdin = stdin
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// plainly is the environment of a git that nobody configured, and that speaks English.
func plainly() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
}

// must is git where it must not fail.
func must(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := git(t, dir, nil, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// repository is a new repository of a run.
func repository(t testing.TB, r *history.Lineage) string {
	t.Helper()
	var stream bytes.Buffer
	if err := r.WriteGit(&stream, "program.txt"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	must(t, dir, "init", "--quiet", "--bare")
	if out, err := git(t, dir, &stream, "fast-import", "--quiet"); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	if out := must(t, dir, "fsck", "--strict", "--full"); strings.Contains(out, "error") ||
		strings.Contains(out, "warning") || strings.Contains(out, "dangling") {
		t.Errorf("git fsck: %s", out)
	}
	return dir
}

// withProgram are the candidates that a repository has.
func withProgram(r *history.Lineage) *history.Lineage {
	out, at := &history.Lineage{Fingerprint: r.Fingerprint}, map[int]int{}
	for i, c := range r.Candidates {
		if c.Program == "" {
			continue
		}
		at[i] = len(out.Candidates)
		c.Parents = slices.Clone(c.Parents)
		for k, p := range c.Parents {
			c.Parents[k] = at[p]
		}
		out.Candidates = append(out.Candidates, c)
	}
	return out
}

// A repository of a real run has a commit for each candidate, with its parents, its program and its score.
func TestGitIsTheRun(t *testing.T) {
	for _, tt := range []struct {
		reason string
		path   string
		merges bool
	}{
		{"several arms", recorded(t, greedy(t, adder)), false},
		{"children of several parents", recorded(t, crossing(t, adder)), true},
	} {
		r := withProgram(one(t, tt.path))
		dir := repository(t, r)
		name, parents := commits(t, dir)
		if len(name) != len(r.Candidates) {
			t.Errorf("%s: %d commits, want %d", tt.reason, len(name), len(r.Candidates))
		}
		merges := 0
		for _, c := range r.Candidates {
			if got, want := parents[c.Name()], names(r, c.Parents); got != want {
				t.Errorf("%s: the parents of %s are %q, want %q", tt.reason, c.Name(), got, want)
			}
			if len(c.Parents) > 1 {
				merges++
			}
		}
		if (merges > 0) != tt.merges {
			t.Errorf("%s: %d merges", tt.reason, merges)
		}
		holds(t, dir, r)
		champions(t, dir, r)
		for arm := range 1 + slices.MaxFunc(r.Candidates, func(a, b history.Candidate) int { return a.Arm - b.Arm }).Arm {
			want := r.Candidates[bestOf(r, arm)].Name()
			if got := strings.TrimSpace(must(t, dir, "log", "-1", "--format=%(trailers:key=Candidate,valueonly)",
				fmt.Sprintf("arm/%d", arm))); got != want {
				t.Errorf("%s: the branch of arm %d is %s, want %s", tt.reason, arm, got, want)
			}
		}
	}
}

// recorded is the journal of a run of these arms.
func recorded(t testing.TB, arms []evolve.Arm) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.journal")
	made(t.Context(), t, path, 15, arms, nil)
	return path
}

// commits are the candidates of all commits by hash, and the candidates of each one's parents.
func commits(t *testing.T, dir string) (name, parents map[string]string) {
	t.Helper()
	name, parents = map[string]string{}, map[string]string{}
	lines := strings.Split(strings.TrimSpace(must(t, dir, "log", "--all",
		"--format=%H|%P|%(trailers:key=Candidate,valueonly,separator=%x20)")), "\n")
	for _, l := range lines {
		f := strings.Split(l, "|")
		name[f[0]] = f[2]
	}
	for _, l := range lines {
		f := strings.Split(l, "|")
		var of []string
		for _, hash := range strings.Fields(f[1]) {
			of = append(of, name[hash])
		}
		parents[f[2]] = strings.Join(of, " ")
	}
	return name, parents
}

// holds checks that each candidate can be had by its address, with its program to the byte, its score and its time.
func holds(t *testing.T, dir string, r *history.Lineage) {
	t.Helper()
	programs := contents(t, dir, r)
	shown := map[string][]string{}
	const format = "--format=%(trailers:key=Candidate,valueonly,separator=%x20)|%at|" +
		"%(trailers:key=Valid,valueonly,separator=%x20)|" +
		"%(trailers:key=Score,valueonly,separator=%x20)|%(trailers:key=Operator,valueonly,separator=%x20)"
	for l := range strings.Lines(must(t, dir, "log", "--all", format)) {
		f := strings.Split(strings.TrimRight(l, "\n"), "|")
		shown[f[0]] = f[1:]
	}
	for _, c := range r.Candidates {
		if programs[c.Name()] != c.Program {
			t.Errorf("%s is %.60q, want %.60q", c.Name(), programs[c.Name()], c.Program)
		}
		got := shown[c.Name()]
		if len(got) != 4 || got[0] != fmt.Sprint(max(c.Time.Unix(), 0)) || got[1] != fmt.Sprint(c.Valid) {
			t.Errorf("%s: time and validity are %v, want those of %+v", c.Name(), got, c)
			continue
		}
		if score, err := strconv.ParseFloat(got[2], 64); c.Valid && (err != nil || score != c.Score) || !c.Valid &&
			got[2] != "" {
			t.Errorf("%s: the score is %q, want %v", c.Name(), got[2], c.Score)
		}
		if c.Step > 0 && c.Operator != "" && got[3] != c.Operator {
			t.Errorf("%s: the operator is %q, want %q", c.Name(), got[3], c.Operator)
		}
	}
}

// contents are the programs of a repository, by candidate.
func contents(t *testing.T, dir string, r *history.Lineage) map[string]string {
	t.Helper()
	var asked strings.Builder
	for _, c := range r.Candidates {
		fmt.Fprintf(&asked, "candidates/%s:program.txt\n", c.Name())
	}
	text, err := git(t, dir, strings.NewReader(asked.String()), "cat-file", "--batch=%(objectsize)")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range r.Candidates {
		head, rest, _ := strings.Cut(text, "\n")
		size, err := strconv.Atoi(head)
		if err != nil || size > len(rest) {
			t.Fatalf("%s: %.100q", c.Name(), head)
		}
		out[c.Name()], text = rest[:size], strings.TrimPrefix(rest[size:], "\n")
	}
	return out
}

// champions checks that git log --graph shows the champion's line, the best first.
func champions(t *testing.T, dir string, r *history.Lineage) {
	t.Helper()
	line := r.Line(r.Best())
	if len(line) < 4 {
		t.Errorf("the champion's line %s is too short to tell anything", names(r, line))
	}
	shown := strings.Split(strings.TrimSpace(must(t, dir, "log", "--graph", "--first-parent", "--format=%s", "best")),
		"\n")
	if len(shown) != len(line) {
		t.Fatalf("git log --graph shows %d commits, want %d:\n%s", len(shown), len(line), strings.Join(shown, "\n"))
	}
	for i, s := range shown {
		c := r.Candidates[line[len(line)-1-i]]
		if want := fmt.Sprintf("* %.6g %s", c.Score, c.Name()); !strings.HasPrefix(s, want) {
			t.Errorf("git log --graph shows %q, want %q", s, want)
		}
	}
}

// The same run gives the same commits, and so does what there was of it earlier.
func TestGitIsDeterministic(t *testing.T) {
	path := recorded(t, crossing(t, adder))
	r := one(t, path)
	refs := func(r *history.Lineage) []string {
		return strings.Split(strings.TrimSpace(must(t, repository(t, r), "for-each-ref", "--sort=creatordate",
			"refs/candidates")), "\n")
	}
	first := refs(r)
	if again := refs(one(t, path)); fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("the same run again gives\n%v\nwant\n%v", again, first)
	}
	earlier := refs(&history.Lineage{Fingerprint: r.Fingerprint, Candidates: r.Candidates[:50]})
	if len(earlier) < 30 || len(earlier) >= len(first) {
		t.Fatalf("%d refs of %d", len(earlier), len(first))
	}
	for _, ref := range earlier {
		if !strings.Contains(strings.Join(first, "\n"), ref) {
			t.Errorf("%s has another hash when the run is over", ref)
		}
	}
}

// hostile is a run in which programs, operators and reasons hold what git or a terminal obeys.
func hostile() *history.Lineage {
	programs := []string{
		"\x00\x01binary\x00", "data 5\nhello\n", "commit refs/heads/best\nfrom :1\ndone\n", "no final newline", "\n",
		strings.Repeat("x", 1<<20), "\xff\xfe not UTF-8",
		"<<EOF\nEOF\n", "--- a\n+++ b\n", "\r\nmore\r\n",
	}
	operators := []string{
		"new\nline\n\nScore: 1e9", "\x1b]0;title\x07\x1b[2J", `quote " backslash \`, "ends in a backslash \\",
		"<b>&lt;&amp;</b>", strings.Repeat("long ", 1<<18), "\u202ereversed", "\xff\xfe", "\x00", "-->; }",
	}
	r := &history.Lineage{Candidates: []history.Candidate{{Arm: -1, Pull: -1, Program: "start",
		Proposal: books.Proposal{Valid: true, Score: -1}, Time: time.Unix(-5, 0)}}}
	r.Fingerprint = map[string]string{"task": "a\nScore: 7\n\nValid: true \\\"", "\nScore": "9"}
	for i := range max(len(programs), len(operators)) {
		c := history.Candidate{Arm: 0, Pull: i, Step: i + 1, Parents: []int{i}, Program: programs[i%len(programs)],
			Key:      "\nKey: x",
			Proposal: books.Proposal{ID: i + 1, Operator: operators[i%len(operators)], Valid: i%2 == 0, Score: float64(i)},
			Time:     time.Unix(int64(i), 0)}
		if !c.Valid {
			c.Score, c.Reason = 0, "Score: 5\n\nScore: 6\nValid: true"
		}
		r.Candidates = append(r.Candidates, c)
	}
	r.Candidates[3].Time = time.UnixMilli(math.MaxInt64)
	r.Candidates[4].Index = -1
	r.Candidates[4].Labels = map[string]string{"island\nScore": "3\n\nScore: 8", "cell": "2,\x1b[2J5"}
	r.Candidates[5].Parents = []int{4, 0, 1, 2, 3}
	return r
}

func TestGitOfHostileText(t *testing.T) {
	r := hostile()
	dir := repository(t, r)
	name, parents := commits(t, dir)
	if len(name) != len(r.Candidates) {
		t.Errorf("%d commits, want %d", len(name), len(r.Candidates))
	}
	plain := *r // with the operators that a line can show
	plain.Candidates = slices.Clone(r.Candidates)
	for i := range plain.Candidates {
		plain.Candidates[i].Operator = ""
	}
	holds(t, dir, &plain)
	for _, c := range r.Candidates {
		if got, want := parents[c.Name()], names(r, c.Parents); got != want {
			t.Errorf("the parents of %s are %q, want %q", c.Name(), got, want)
		}
		message := must(t, dir, "cat-file", "commit", "candidates/"+c.Name())
		if i := strings.IndexFunc(message, func(r rune) bool {
			return r < ' ' && r != '\n' || r == 0x7f ||
				r == 0x202e
		}); i >= 0 {
			t.Errorf("%s: the message has %q", c.Name(), message[i:i+1])
		}
		for l := range strings.Lines(message) {
			if len(l) > 300 {
				t.Errorf("%s: a line of the message has %d bytes", c.Name(), len(l))
			}
		}
	}
}

// A stream that broke off is not taken for a whole one.
func TestGitOfHalfAStream(t *testing.T) {
	var stream bytes.Buffer
	if err := hostile().WriteGit(&stream, ""); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	must(t, dir, "init", "--quiet", "--bare")
	half, _, _ := bytes.Cut(stream.Bytes(), []byte("reset refs/heads/best"))
	if out, err := git(t, dir, bytes.NewReader(half), "fast-import", "--quiet"); err == nil {
		t.Errorf("git fast-import takes it: %s", out)
	}
}

func TestWriteGitRefuses(t *testing.T) {
	for _, file := range []string{"../program", "a/b", ".git", ".gitattributes", "a b", "a\nb", `"a"`, "é", "git~1",
		strings.Repeat("x", 300)} {
		err := hostile().WriteGit(io.Discard, file)
		if err == nil || !strings.Contains(err.Error(), "history: the file name") {
			t.Errorf("%.20q: %v", file, err)
		}
	}
	r := &history.Lineage{Candidates: []history.Candidate{{Step: 1, Proposal: books.Proposal{ID: 1}}}}
	if err := r.WriteGit(io.Discard, ""); !errors.Is(err, history.ErrNoProgram) {
		t.Errorf("no program: %v", err)
	}
}

// What cannot be written is an error of each form.
func TestWriteErrors(t *testing.T) {
	r := hostile()
	for form, write := range map[string]func(io.Writer) error{
		"git":   func(w io.Writer) error { return r.WriteGit(w, "") },
		"jsonl": r.WriteJSONL,
	} {
		if err := write(full{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", form, err)
		}
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// The command in the docs finds the step of the champion's line that first reached a score.
func TestBisectOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(text), "```sh\ngit bisect start")
	script, _, found := strings.Cut(script, "```")
	if !found || !strings.Contains(script, "0.6") {
		t.Fatalf("docs/reference.md has no script that looks for 0.6: %q", script)
	}
	r := withProgram(one(t, recorded(t, greedy(t, adder))))
	line := r.Line(r.Best())
	want := r.Candidates[line[len(line)/3]]
	dir := filepath.Join(t.TempDir(), "lineage")
	must(t, ".", "clone", "--quiet", repository(t, r), dir, "--branch", "best")
	must(t, dir, "fetch", "--quiet", "origin", "refs/candidates/*:refs/candidates/*")
	script = "git bisect start" + strings.ReplaceAll(script, "0.6", fmt.Sprint(want.Score))
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = dir, plainly()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "is the first reached commit") ||
		!strings.Contains(string(out), want.Name()+" ") {
		t.Errorf("%v: %s\nwant %s, which scores %v, on %s", err, out, want.Name(), want.Score, names(r, line))
	}
}
