package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// editing returns a base, and the Config of an editor whose command is the script that it gets as its prompt.
func editing(t *testing.T) (Config, string) {
	t.Helper()
	cfg, dir := based(t)
	cfg.Build, cfg.Score, cfg.Run = nil, nil, []string{"sh", "{prompt}"}
	cfg.Logger = quiet
	writeBase(t, filepath.Join(dir, ".git", "HEAD"), "ref\n")
	return cfg, dir
}

// editorWithout returns an editor that does without some mechanisms.
func editorWithout(t *testing.T, cfg Config, ms []isolation.Mechanism) *Editor {
	t.Helper()
	e, err := newEditor(cfg, slices.DeleteFunc(sandbox.Mechanisms(),
		func(m isolation.Mechanism) bool { return slices.Contains(ms, m) }))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What a command leaves is the program: with layers, with a copy, and with a copy that nothing else protects. The
// command finds what the program before it changed, and the prompt on its standard input too.
func TestEditor(t *testing.T) {
	t.Parallel()
	cfg, dir := editing(t)
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("out/\n*.o\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := digestOf(t, dir)
	first := patch.Patch{Base: "test", Deleted: []string{"sub/gone.txt"},
		Files: map[string]string{"a.txt": "10\n", "new/c.txt": "c\n"}}
	const script = `set -e
test "$(cat a.txt sub/b.txt new/c.txt)" = "10
2
c"
test ! -e sub/gone.txt && test ! -e .git
cat > copied
sed -i.was s/2/20/ sub/b.txt && rm sub/b.txt.was
rm -r new && mkdir new && echo d > new/d.txt
mkdir -p out/deep && echo o > out/deep/x && echo o > sub/x.o
echo made > sub/gone.txt && echo 1 > a.txt
mkdir .git && echo x > .git/config
ln -s a.txt also
rm run.sh
echo "in $PWD"; echo err >&2
`
	want := patch.Patch{Base: "test", Deleted: []string{"run.sh"}, Files: map[string]string{
		"sub/b.txt": "20\n", "new/d.txt": "d\n", "sub/gone.txt": "made\n", "copied": script}}
	for _, ms := range [][]isolation.Mechanism{nil, {sandbox.Landlock}, {sandbox.MountNS},
		{sandbox.MountNS, sandbox.Landlock}} {
		e := editorWithout(t, cfg, ms)
		if e.base.layers != (e.Isolation().Has(sandbox.MountNS)) {
			t.Errorf("without %v: layers %v", ms, e.base.layers)
		}
		out, err := e.Edit(t.Context(), first.String(), Job{Prompt: script})
		if err != nil || out.Fault != nil {
			t.Fatalf("without %v: %+v, %v, %v", ms, out, out.Fault, err)
		}
		if out.Program != want.String() {
			t.Errorf("without %v: the program is %q, want %q", ms, out.Program, want)
		}
		if out.Stdout != "in .\n" || out.Stderr != "err\n" || !slices.Equal(out.Omitted,
			[]string{"also is a link", "out is ignored", "sub/x.o is ignored"}) {
			t.Errorf("without %v: printed %q and %q, left out %q", ms, out.Stdout, out.Stderr, out.Omitted)
		}
		again, err := e.Edit(t.Context(), out.Program, Job{Prompt: `cat run.sh sub/gone.txt new/d.txt; test ! -e new/c.txt`})
		if err != nil || again.Program != out.Program || again.Stdout != "made\nd\n" {
			t.Errorf("without %v: a command that changes nothing left %+v, %v", ms, again, err)
		}
	}
	if digestOf(t, dir) != before {
		t.Error("the base was changed")
	}
}

// Without a base the program is a file.
func TestEditorOfAFile(t *testing.T) {
	t.Parallel()
	cfg := shell
	cfg.Args, cfg.File, cfg.Logger = []string{"sh", "{prompt}", "{program}"}, "program.sh", quiet
	e := editorWithout(t, cfg, nil)
	for script, want := range map[string]struct{ program, fault string }{
		`echo 2 >> program.sh`:                 {"1\n2\n", ""},
		`sed s/1/7/ "$1" > new && mv new "$1"`: {"7\n", ""},
		`printf 'no end' > "$1"; exit 3`:       {"no end", "exited with status 3"},
		`rm "$1"`:                              {"", "left what cannot be a program: reading what was left: "},
		`rm "$1"; ln -s /etc/passwd "$1"`:      {"", "left what cannot be a program: program.sh was replaced by a link"},
		`rm "$1"; mkfifo "$1"; exit 1`: {"",
			"exited with status 1, and left what cannot be a program: program.sh was replaced by a pipe"},
		`printf '\377' > "$1"`:                  {"", "left what cannot be a program: program.sh, which is not UTF-8"},
		`truncate -s 3M "$1"`:                   {"", "left what cannot be a program: program.sh has 3145728 bytes"},
		`cd ..; rm -r work; ln -s / work`:       {"", "left what cannot be a program: the folder was replaced by a link"},
		`chmod 0 "$1" . ..`:                     {"1\n", ""},
		`echo 5 > "$1"; exec cat /dev/zero`:     {"5\n", "printed more than 16 MiB"},
		`echo 6 > "$1"; sleep 999 & kill -9 $$`: {"6\n", "exited with status 137, as after signal 9 (killed)"},
	} {
		out, err := e.Edit(t.Context(), "1\n", Job{Prompt: script})
		fault := ""
		if out.Fault != nil {
			fault = out.Fault.Reason
		}
		if err != nil || out.Program != want.program || !strings.HasPrefix(fault, want.fault) ||
			(fault == "") != (want.fault == "") {
			t.Errorf("%s: got %q, %q, %v; want %q", script, out.Program, fault, err, want)
		}
	}
}

// A job's environment and the Config's are all that a command has.
func TestEditorEnvironment(t *testing.T) {
	t.Parallel()
	cfg, _ := editing(t)
	cfg.Env = []string{"OF_ALL=1"}
	e := editorWithout(t, cfg, nil)
	out, err := e.Edit(t.Context(), changed, Job{Env: []string{"TOKEN=of the session"}, Prompt: `env; ls -A "$HOME"`})
	if err != nil || out.Fault != nil {
		t.Fatal(out.Fault, err)
	}
	var names []string
	for line := range strings.Lines(out.Stdout) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, strings.TrimSpace(name))
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "HOME LANG OF_ALL PATH PWD TEMP TMP TMPDIR TOKEN" ||
		!strings.Contains(out.Stdout, "TOKEN=of the session\n") {
		t.Errorf("the environment is %q", got)
	}
	if _, err := e.Edit(t.Context(), changed, Job{Env: []string{"EVOALLOC_SECRET"}}); err == nil {
		t.Error("a job may have a variable of this process")
	}
}

func TestEditorConfig(t *testing.T) {
	t.Parallel()
	cfg, dir := editing(t)
	for field, change := range map[string]func(*Config){
		"Build": func(c *Config) { c.Build = []string{"true"} },
		"Score": func(c *Config) { c.Score = []string{"true"} },
		"Run":   func(c *Config) { c.Run = nil },
	} {
		c := cfg
		change(&c)
		if _, err := NewEditor(c); err == nil || !strings.Contains(err.Error(), "Config."+field) && field != "Run" {
			t.Errorf("%s: got %v", field, err)
		}
	}
	e := editorWithout(t, cfg, nil)
	out, err := e.Edit(t.Context(), patch.Patch{Base: "test", Deleted: []string{"none"}}.String(), Job{})
	if err != nil || out.Fault == nil || !strings.HasPrefix(out.Fault.Reason, "the program does not fit its base") {
		t.Errorf("a program that does not fit: %+v, %v", out, err)
	}
	if e.String() != "command.Editor(sh {prompt})" || e.cfg.Timeout != time.Minute || dir == "" {
		t.Error(e, e.cfg.Timeout)
	}
	cfg.Timeout, cfg.Memory, cfg.CPU = 0, 0, 0
	if e := editorWithout(t, cfg, nil); e.cfg.Timeout != 30*time.Minute || e.cfg.Memory != 64<<30 {
		t.Error(e.cfg.Timeout, e.cfg.Memory)
	}
}

// A command whose job is stopped leaves what it did until then; one whose context ends leaves nothing.
func TestEditorStops(t *testing.T) {
	t.Parallel()
	cfg, _ := editing(t)
	ready := filepath.Join(t.TempDir(), "ready")
	if err := os.Mkdir(ready, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg.Writable = []string{ready}
	e := editorWithout(t, cfg, nil)
	script := "trap '' TERM INT HUP; echo 5 > a.txt; echo > '" + ready + "/a'; while :; do sleep 1; done"
	begun := func(then func()) {
		for {
			if _, err := os.Stat(filepath.Join(ready, "a")); err == nil {
				os.Remove(filepath.Join(ready, "a"))
				then()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
	stop := make(chan struct{})
	go begun(func() { close(stop) })
	out, err := e.Edit(t.Context(), changed, Job{Prompt: script, Stop: stop})
	if err != nil || out.Fault == nil || out.Fault.Reason != "was stopped" ||
		!strings.Contains(out.Program, "-- a.txt --\n5\n") {
		t.Errorf("got %+v, %v, %v", out, out.Fault, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go begun(cancel)
	if out, err := e.Edit(ctx, changed, Job{Prompt: script}); !errors.Is(err, context.Canceled) || out.Program != "" {
		t.Errorf("got %+v, %v", out, err)
	}
}

// Whatever a command leaves, the base stays as it was, no process goes on, and the program is a patch or a fault.
func TestHostileEdits(t *testing.T) {
	t.Parallel()
	cfg, dir := editing(t)
	cfg.OpenFiles = 256
	outside := t.TempDir()
	writeBase(t, filepath.Join(outside, "victim"), "as it was\n")
	before := digestOf(t, dir) + digestOf(t, outside)
	type leaving struct{ script, program, fault string } // both are parts; "" means none
	leavings := map[string]leaving{
		"goes on after its end": {"(while :; do echo 9 > a.txt; sleep 0.01; done) & setsid sh -c 'while :; do echo 9 > a.txt; done' & sleep 0.1; exit 0", "base test\n", ""},
		"forks":                 {"f() { f | f & }; f; while :; do f; done", "base test\n", " "},
		"deaf": {"trap '' HUP INT TERM XCPU; echo 5 > a.txt; kill -TERM $$; kill -HUP 0; exit 0",
			"-- a.txt --\n5\n", ""},
		"kills all": {"echo 5 > a.txt; kill -9 -1; kill -9 0; kill -9 $PPID; sleep 9", "-- a.txt --\n5\n",
			" "},
		"writes outside": {"echo 9 > '" + outside + "/victim'; echo 9 > '" + outside + "/new'; echo 9 > '" + dir +
			"/a.txt'; rm -rf '" + outside + "'; exit 0", "base test\n", ""},
		"links to the outside": {"rm -r sub a.txt; ln -s '" + outside + "' sub; ln -s /etc/passwd a.txt; ln '" + outside +
			"/victim' hard; echo 9 > sub/victim; exit 0", "delete a.txt\n", ""},
		"deletes everything": {"rm -rf ./* .[a-z]* '" + dir + "' 2>/dev/null; exit 0",
			"delete a.txt\ndelete run.sh\ndelete sub/b.txt\n", ""},
		"fills the disk": {"i=0; while [ $i -lt 3 ]; do head -c 99999999 /dev/zero > f$i; i=$((i+1)); done; truncate -s 900G sparse; exit 0", "base test\n", ""},
		"many files": {"mkdir m; seq -f m/f%g 5000 | xargs touch; exit 0", "",
			"more than 4096 files were changed"},
		"many files of no text": {"mkdir m; cd m; seq 300 | xargs mkdir; for i in *; do printf '\\0' > $i/x; done; exit 0",
			"base test\n", ""},
		"nests folders": {"i=0; while [ $i -lt 300 ]; do mkdir d && cd d || break; i=$((i+1)); done; echo x > x; exit 0",
			"base test\n", ""},
		"names": {"echo x > 'new\nline'; echo x > \"$(printf '\\377')\"; echo x > 'a b'; mkdir ..a; echo x > ..a/-- ; exit 0",
			"-- a b --\nx\n", ""},
		"pipes and sockets": {"mkfifo p; rm a.txt; mkfifo a.txt; mknod c c 1 3; mknod w c 0 0; exit 0",
			"delete a.txt\n", ""},
		"whiteouts and attributes": {"mknod sub/w c 0 0; setfattr -n user.overlay.opaque -v y sub; setfattr -n user.overlay.redirect -v /etc sub; touch sub/.wh.b.txt; exit 0", "base test\n", ""},
		"takes its rights away":    {"echo 5 > a.txt; chmod 0 a.txt sub . ..; exit 0", "-- a.txt --\n5\n", ""},
		"setuid":                   {"printf '#!/bin/sh\\n' > s; chmod 4755 s; exit 0", "-- s --\n#!/bin/sh\n", ""},
		"moves folders": {"mv sub bus; mkdir sub; echo 9 > sub/b.txt; mv bus/b.txt . && mkdir bus/sub && mv b.txt bus/sub; exit 0",
			"base test\ndelete sub/gone.txt\n-- bus/gone.txt --\n3\n-- bus/sub/b.txt --\n2\n-- sub/b.txt --\n9\n", ""},
		"deletes its folder":  {"rm -rf \"$PWD\"; exit 0", "", "|reading what was left"},
		"moves its folder":    {"cd ..; mv work away; ln -s / work; exit 0", "", "|the folder was replaced by a link"},
		"separators of files": {"echo '-- run.sh --' > a.txt; printf 'x\\n-- b --\\n' > new; exit 0", "base test\n", ""},
		"a repository":        {"mkdir .git sub/.git; echo x > .git/config; echo '[core]' > sub/.git/config; echo 'gitdir: /' > new; mkdir .GIT; exit 0", "-- new --\ngitdir: /\n", ""},
	}
	// The normal run leaves out what takes long, as what reads it has a test of its own, and where the base is copied it
	// has what the layers are not there to stop.
	longLeavings := []string{"many files", "many files of no text", "nests folders"}
	fewCopied := []string{"goes on after its end", "writes outside", "links to the outside", "moves folders",
		"moves its folder"}
	for _, ms := range [][]isolation.Mechanism{nil, {sandbox.MountNS}} {
		e := editorWithout(t, cfg, ms)
		for reason, l := range leavings {
			if reason == "forks" && !e.Isolation().Has(sandbox.Processes) {
				continue
			}
			if !notrun.Soak && (ms != nil && !slices.Contains(fewCopied, reason) || slices.Contains(longLeavings, reason)) {
				continue
			}
			out, err := e.Edit(t.Context(), "base test\n", Job{Prompt: l.script})
			if err != nil {
				t.Errorf("without %v, %s: %v", ms, reason, err)
				continue
			}
			fault := ""
			if out.Fault != nil {
				fault = out.Fault.Reason
			}
			optional, isOptional := strings.CutPrefix(l.fault, "|")
			if !strings.Contains(out.Program, l.program) || (l.fault == "") != (fault == "") && !(isOptional && fault == "") ||
				fault != "" && !strings.Contains(fault, optional) {
				t.Errorf("without %v, %s: left %.500q, omitted %.500q, fault %q", ms, reason, out.Program, out.Omitted, fault)
			}
			if out.Program != "" {
				if _, err := patch.Parse(out.Program); err != nil {
					t.Errorf("without %v, %s: %v", ms, reason, err)
				}
			}
			if strings.Contains(out.Program, "root:") || strings.Contains(out.Program, "as it was") {
				t.Errorf("without %v, %s: a file from outside is in the program", ms, reason)
			}
			if digestOf(t, dir)+digestOf(t, outside) != before {
				t.Fatalf("without %v, %s: changed what is outside", ms, reason)
			}
		}
	}
}

// A command finds no key of ours: not in its environment, not in /proc, not in memory, and reaches no server.
func TestEditorFindsNoSecret(t *testing.T) {
	t.Parallel()
	needPython(t)
	cfg, _ := editing(t)
	cfg.Timeout = 20 * time.Second
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	attacks := map[string][]string{
		"secrets": {"SECRET", secret[:8] + "\" \"" + secret[8:], "PID", fmt.Sprint(os.Getpid())},
		"network": {"ADDRESS", l.Addr().String()},
	}
	cfg.Run = []string{pythonPath, "-c", driver, "{prompt}"}
	e := editorWithout(t, cfg, nil)
	for name, words := range attacks {
		text, err := os.ReadFile(filepath.Join("..", "python", "testdata", "hostile", name+".py"))
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.Edit(t.Context(), changed, Job{Prompt: strings.NewReplacer(words...).Replace(string(text))})
		if err != nil || out.Fault != nil || strings.TrimSpace(out.Stdout) != "[]" {
			t.Errorf("%s: %q went through, fault %v, %v", name, out.Stdout, out.Fault, err)
		}
	}
}

// Whoever waits for the end of a run does not wait until what an agent left is removed: the next process does it.
func TestLeftToTheNextProcess(t *testing.T) {
	cfg, _ := editing(t)
	t.Setenv("TMPDIR", t.TempDir())
	cfg.Run = []string{"sh", "-c", "touch started; exec sleep 1000"}
	e := editorWithout(t, cfg, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := e.Edit(ctx, patch.Patch{Base: "test"}.String(), Job{}); err == nil {
		t.Error("an agent that was canceled has no error")
	}
	left := func() int {
		all, err := filepath.Glob(filepath.Join(os.TempDir(), placeName+"*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if left() != 1 {
		t.Errorf("%d folders are left", left())
	}
	if editorWithout(t, cfg, nil); left() != 0 {
		t.Errorf("the next process leaves %d folders", left())
	}
}
