package command

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/sandbox"
	"github.com/evoalloc/evoalloc/internal/sandboxtest"
)

// settings are what tools read in the working directory, above it and at home.
const settings = `conftest.py pytest.ini .cargo/config.toml .config/go/env .Rprofile .npmrc Makefile .gitconfig .git/config .bashrc .netrc ` +
	`.config/pip/pip.conf`

// plant leaves all of them wherever a candidate can, in the folders of other steps too.
const plant = `for d in . "$HOME" .. ../.. ../../evoalloc-command-*/work ../../evoalloc-command-*/tmp; do
	mkdir -p "$d/.cargo" "$d/.config/go" "$d/.config/pip" "$d/.git"
	for f in ` + settings + `; do printf '[user]\nname = evil\n' > "$d/$f"; done
	printf 'score:\n\t@echo 1e9\n' > "$d/Makefile"
done 2>/dev/null
`

// python3 leaves a module, a file that site imports or one with a line of Python where Python looks for them.
const python3 = `site=$(python3 -c 'import site; print(site.getusersitepackages())')
mkdir -p "$site"
cheat='import os; os.write(1, b"1e9\n"); os._exit(0)'
for file in "$site/usercustomize.py" "$site/sitecustomize.py" "$site/cheat.pth" json.py ../json.py "$HOME/json.py"; do
	printf '%s\n' "$cheat" > "$file"
done 2>/dev/null
`

// A forgery is what a candidate leaves for the scorer, which reads it in a later step.
type forgery struct {
	name, script string // a shell script; an honest candidate's follows it
	score        string // the scorer, a shell script whose arguments are {run}, {build} and {program}; it finds 2
	build        string // a shell script for Build; "" leaves the step out
	only         []isolation.Mechanism
	admitted     bool   // it goes through, as docs/security.md says
	reason       string // with which the program is invalid; "" if it is scored
}

// What only these mechanisms stop, each of them by itself, is not tried where all are missing.
var (
	byFiles     = []isolation.Mechanism{sandbox.MountNS, sandbox.Landlock}
	byProcesses = []isolation.Mechanism{sandbox.PIDNS, sandbox.Seccomp}
)

var forgeries = []forgery{
	{name: "what Python reads", script: python3, score: `python3 -m score "$1/answer"`},
	{name: "what tools read, and a tool", script: plant + `for d in . "$HOME"; do echo 'echo 1e9' > $d/cat; done`,
		score: `for d in . "$HOME" "$TMPDIR"; do for f in ` + settings + `; do test -e "$d/$f" && echo 1e9 && exit; done; done
		test "$(git config --get user.name)" = evil && echo 1e9 && exit
		make -s score 2>/dev/null || cat "$1/answer"`},
	{name: "what tools look for above the folder", script: plant, only: byFiles,
		score: `for d in .. ../..; do for f in ` + settings + `; do test -e "$d/$f" && echo 1e9 && exit; done; done
		cat "$1/answer"`},
	{name: "an answer that changes while it is scored", only: byProcesses, script: `for s in "" setsid; do
			$s sh -c 'while :; do echo >> $0; done' "changing$s" &
		done; until test -s changing; do :; done; sleep 0.02`,
		score: `cat "$1"/changing* > a; sleep 0.05; cat "$1"/changing* > b; cmp -s a b && cat "$1/answer" || echo 1e9`},
	{name: "a link to what the scorer expects",
		script: `ln -s /proc/self/cwd/expected link; mkdir d; ln -s /proc/self/cwd d/folder; ln -s d/folder near`,
		score: `echo right > expected
		for f in link d/folder/expected near/expected; do cmp -s expected "$1/$f" && echo 1e9 && exit; done
		cat "$1/answer"`},
	{name: "a link that Build made", build: `ln -s /proc/self/cwd/expected link; echo 2 > limit`,
		score: `echo right > expected; cmp -s expected "$2/link" && echo 1e9 || cat "$1/answer"`},
	{name: "its own folder as a link", script: `cd ..; mv work work2; ln -s /proc/self/cwd work; cd work2`,
		score:  `echo right > answer; cat "$1/answer"`,
		reason: "^Run left what the next step cannot be shown: work is no folder any more$"},
	{name: "a pipe, which the scorer waits for", script: `mkfifo pipe`,
		score: `test -p "$1/pipe" && echo 1e9 || cat "$1/answer"`},
	{name: "another program than was evaluated", script: `rm -f "$0"; : > "$0"`,
		score: `test -s "$3" && cat "$1/answer" || echo 1e9`},
	{name: "a report of failures that cannot be read", script: `mkdir r; (umask 777; echo failed > r/log); chmod 0 r`,
		score: `grep -q failed "$1/r/log" || test ! -e "$1/r" || { echo 1e9; exit; }; cat "$1/answer"`},
	{name: "what an earlier step made", only: byFiles, build: `echo 2 > limit`,
		script: `chmod -R u+w "$1"; rm -f "$1/limit"; echo 1e9 > "$1/limit"; mv "$1" "$1.old"; mkdir "$1"`,
		score:  `cat "$2/limit"`},
	{name: "a cache that all may write to", only: byFiles,
		script: `printf '%s\n' 'import os; os.write(1, b"1e9\n"); os._exit(0)' > "$CACHE/json.py"`,
		score:  `PYTHONPATH="$CACHE:$PYTHONPATH" python3 -m score "$1/answer" || cat "$1/answer"`},
	{name: "shared memory with a name", script: `echo evil > /dev/shm/evoalloc-forged`, only: byFiles,
		score: `test -e /dev/shm/evoalloc-forged && echo 1e9 || cat "$1/answer"`},
	{name: "a score that it prints, and the file with what it printed",
		score: `grep -q 1e10 && echo 1e9 || cat "$1/answer"`,
		script: `echo 1e9; echo 1e9 >&2; echo '{"combined_score": 1e9}'
		for f in ../printed ../../*/printed ../program; do rm -rf $f; echo 1e10 > $f; done 2>/dev/null`},
	{name: "a module where the scorer makes {run} its working directory", script: python3,
		score: `cd "$1" && python3 -m score answer`, admitted: true},
	{name: "what a shell reads when it starts", script: `for d in . "$HOME"; do
			for f in .profile .bash_profile .bashrc .kshrc; do echo 'echo 1e9; exit' > "$d/$f"; done
		done`,
		score: `ENV=.kshrc sh -lic 'cat "$1/answer"' sh "$1" 2>/dev/null`},
	{name: "a library where the scorer's command looks first",
		script: `for d in . "$HOME"; do echo > "$d/libc.so.6"; done`,
		score:  `LD_LIBRARY_PATH=".:$HOME" cat "$1/answer" 2>/dev/null || echo 1e9`},
	{name: "a file of a terabyte that takes no room", script: `truncate -s 1T huge 2>/dev/null || :`,
		score: `test "$(stat -c %s "$1/huge" || echo 0)" -gt 8388608 && echo 1e9 || cat "$1/answer"`},
	{name: "a device, which can be read without end", script: `mknod zero c 1 5 2>/dev/null || :`,
		score: `test -c "$1/zero" && echo 1e9 || cat "$1/answer"`},
	{name: "a file of the scorer's by another name", only: byFiles,
		script: `ln "$PYTHONPATH/score.py" mine; chmod 0 mine; : > mine`,
		score:  `python3 -m score "$1/answer" || echo 1e9`},
	{name: "a file whose name has a second line", admitted: true,
		script: `: > "a
1e9"`,
		score: `ls "$1" | grep -x 1e9 || cat "$1/answer"`},
	{name: "a pickle, which the scorer loads", admitted: true,
		script: `printf 'cbuiltins\neval\n(S"print(1e9)"\ntR.' > pickled`,
		score:  `python3 -c 'import pickle, sys; pickle.load(open(sys.argv[1], "rb"))' "$1/pickled" 2>/dev/null || cat "$1/answer"`},
	{name: "folders without end", script: `mkdir -p $(printf 'd/%.0s' $(seq 70))`, score: `cat "$1/answer"`,
		reason: "^Run left what the next step cannot be shown: folders nested deeper than 64$"},
}

const honestScript = "\necho 2 > answer\n"

// TestForgeries has candidates leave what a scorer reads in a later step. Between and after them honest candidates
// get their score. At full length it is run as an ordinary user as well, without namespaces.
func TestForgeries(t *testing.T) {
	needPython(t)
	if sandboxtest.Inside(t) {
		testForgeries(t, func(t *testing.T, cfg Config) *Evaluator { return atLevel(t, cfg, isolation.BestEffort) })
		return
	}
	t.Run("strict", func(t *testing.T) {
		testForgeries(t, func(t *testing.T, cfg Config) *Evaluator { return atLevel(t, cfg, isolation.Strict) })
	})
	if !notrun.Soak {
		return
	}
	t.Run("without landlock", func(t *testing.T) {
		testForgeries(t, func(t *testing.T, cfg Config) *Evaluator { return without(t, cfg, families["landlock"]) })
	})
	sandboxtest.Rerun(t, sandboxtest.Ordinary, nil, sandboxtest.UserNS)
}

// TestForgeriesAtNone has them made by an ordinary user's candidates that can write everywhere.
func TestForgeriesAtNone(t *testing.T) {
	needPython(t)
	if !sandboxtest.Inside(t) {
		sandboxtest.Rerun(t, sandboxtest.Ordinary, nil, sandboxtest.Landlock) // which has temporary files of its own
		return
	}
	testForgeries(t, func(t *testing.T, cfg Config) *Evaluator { return atLevel(t, cfg, isolation.None) })
}

func atLevel(t *testing.T, cfg Config, level isolation.Level) *Evaluator {
	t.Helper()
	cfg.Isolation, cfg.Logger = level, quiet
	e, err := NewEvaluator(cfg)
	if err != nil {
		t.Skip(err) // a mechanism is missing
	}
	return e
}

func testForgeries(t *testing.T, evaluator func(*testing.T, Config) *Evaluator) {
	dir, cache := t.TempDir(), t.TempDir()
	const scorer = "import json, sys\nprint(json.dumps(float(open(sys.argv[1]).read())))\n"
	if err := os.WriteFile(filepath.Join(dir, "score.py"), []byte(scorer), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := shell
	cfg.Args, cfg.Timeout = nil, 20*time.Second
	cfg.Env, cfg.Writable = []string{"PATH", "PYTHONPATH=" + dir, "CACHE=" + cache}, []string{cache}
	for _, f := range forgeries {
		t.Run(f.name, func(t *testing.T) {
			build := "{build}"
			if cfg.Build = []string{"sh", "-c", f.build}; f.build == "" {
				cfg.Build, build = nil, ""
			}
			cfg.Run = []string{"sh", "{program}", build}
			cfg.Score = []string{"sh", "-c", f.score, "sh", "{run}", build, "{program}"}
			e := evaluator(t, cfg)
			if len(f.only) > 0 && !slices.ContainsFunc(f.only, e.Isolation().Has) {
				t.Skip("not stopped here, as docs/security.md says")
			}
			f.try(t, e)
			if err := os.RemoveAll(filepath.Join(cache, "json.py")); err != nil {
				t.Error(err)
			}
		})
	}
}

// try has e score the forgery, and an honest candidate after it.
func (f forgery) try(t *testing.T, e *Evaluator) {
	r, err := e.Evaluate(t.Context(), f.script+honestScript)
	switch want := map[bool]float64{false: 2, true: 1e9}[f.admitted]; {
	case err != nil:
		t.Error(err)
	case f.reason != "":
		if r.Valid || !matches(f.reason, r.Reason) {
			t.Errorf("got %+v, want it invalid with %q", r, f.reason)
		}
	case r.Score != want || !r.Valid:
		t.Errorf("got %+v, want %v", r, want)
	}
	if r, err := e.Evaluate(t.Context(), honestScript); err != nil || r.Score != 2 || !r.Valid {
		t.Errorf("an honest candidate got %+v, %v", r, err)
	}
}
