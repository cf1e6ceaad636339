package command

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/patch"
)

// A treeForgery is what a candidate's tree holds, or its build leaves, for a tool of the scorer.
type treeForgery struct {
	name  string
	tool  string // that has to be here; "" if the probe looks where the tool does
	plant string // puts it into the folder $d, as the working directory and as HOME
	probe string // runs the tool, and prints 1e9 if that obeys; the honest score follows
}

// up looks for a file where a tool looks for its settings: in the working directory and above it, and at home.
const up = `found() { d=$PWD; while :; do test -e "$d/$1" && return 0; test "$d" = / && break; d=$(dirname "$d"); done; test -e "$HOME/$1"; }; `

var treeForgeries = []treeForgery{
	{name: "usercustomize.py", tool: "python3", probe: `python3 -c 'pass'`,
		plant: `s="$d/$(HOME=/ python3 -c 'import site; print(site.getusersitepackages())')"; mkdir -p "$s"; printf '%s\n' 'import os; os.write(1, b"1e9\n"); os._exit(0)' > "$s/usercustomize.py"`},
	{name: "a .pth", tool: "python3", probe: `python3 -c 'pass'`,
		plant: `s="$d/$(HOME=/ python3 -c 'import site; print(site.getusersitepackages())')"; mkdir -p "$s"; printf '%s\n' 'import os; os.write(1, b"1e9\n"); os._exit(0)' > "$s/cheat.pth"`},
	{name: "a module in the working directory", tool: "python3",
		probe: `python3 -m json.tool --help > /dev/null; python3 -c 'import json; print(getattr(json, "cheat", ""))'`,
		plant: `echo 'cheat = "1e9"' > "$d/json.py"`},
	{name: "conftest.py", probe: up + `found conftest.py && echo 1e9`, plant: `echo > "$d/conftest.py"`},
	{name: ".cargo/config.toml", probe: up + `found .cargo/config.toml && echo 1e9`,
		plant: `mkdir -p "$d/.cargo"; echo '[build]' > "$d/.cargo/config.toml"`},
	{name: "go.env", tool: "go", probe: `test "$(go env GOFLAGS)" = -tags=evil && echo 1e9`,
		plant: `mkdir -p "$d/.config/go"; echo GOFLAGS=-tags=evil > "$d/.config/go/env"`},
	{name: ".npmrc", probe: up + `found .npmrc && echo 1e9`, plant: `echo script-shell=evil > "$d/.npmrc"`},
	{name: "Makefile", tool: "make", probe: `make -s score 2>/dev/null`,
		plant: `printf 'score:\n\t@echo 1e9\n' > "$d/Makefile"`},
	{name: "a git hook", tool: "git",
		probe: `git -c user.name=s -c user.email=s@localhost commit --allow-empty -qm x --dry-run > /dev/null 2>&1; git status > /dev/null 2>&1; git config --get evil.score`,
		plant: `git init -q "$d" 2>/dev/null; git -C "$d" config evil.score 1e9; git -C "$d" config core.fsmonitor 'echo 1e9 >&2; false'; printf '#!/bin/sh\necho 1e9\n' > "$d/.git/hooks/pre-commit"`},
}

// What a tree holds or its build leaves, in its folder, at home and beside it, is not where a scorer's tools look: they
// begin in folders of their own. Where a scorer makes the candidate's folder its own, each of them is obeyed.
func TestForgedTrees(t *testing.T) {
	t.Parallel()
	for _, f := range treeForgeries {
		t.Run(f.name, func(t *testing.T) {
			if _, err := exec.LookPath(f.tool); f.tool != "" && err != nil {
				t.Skip(err)
			}
			cfg := shell
			cfg.Args, cfg.Base = nil, t.TempDir()
			writeBase(t, filepath.Join(cfg.Base, "run.sh"), "echo 2 > answer\n")
			cfg.Env = []string{"PATH"}
			cfg.Build = []string{"sh", "-c", "sh ./build.sh; true"}
			cfg.Run = []string{"sh", "-c", `sh "$0/run.sh"`, "{program}"}
			honest := `said=$(` + f.probe + "\n); case $said in *1e9*) echo 1e9;; *) cat \"$1/answer\";; esac"
			for own, want := range map[string]float64{"": 2, `cd "$0/planted"; export HOME="$PWD"; `: 1e9} {
				cfg.Score = []string{"sh", "-c", own + honest, "{build}", "{run}"}
				e, err := NewEvaluator(cfg)
				if err != nil {
					t.Fatal(err)
				}
				script := "mkdir planted\nfor d in planted . \"$HOME\" \"$TMPDIR\" ..; do { " +
					strings.ReplaceAll(f.plant, "\n", "; ") + "; } 2>/dev/null; done\n"
				p := patch.Patch{Base: "test", Files: map[string]string{"build.sh": script}}
				if r, err := e.Evaluate(t.Context(), p.String()); err != nil || r.Score != want {
					t.Errorf("in the candidate's folder %v: got %+v, %v; want %v", own != "", r, err, want)
				}
			}
		})
	}
}
