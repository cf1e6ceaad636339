package patch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// scratch are the files that agents and builds keep for themselves, as lines of a .gitignore.
const scratch = `.aider*
.claude
.claude.json
.codex
.gemini
.opencode
.pi
.qwen
__pycache__/
*.py[co]
.pytest_cache/
.mypy_cache/
.ruff_cache/
.venv/
node_modules/
.DS_Store
`

// An Ignored is what does not belong to a program although it lies in its folder: what agents and builds keep for
// themselves, and what a .gitignore names.
type Ignored []ignoreRule

// An ignoreRule is a line of a .gitignore. The last one that matches a path decides.
type ignoreRule struct {
	path    *regexp.Regexp
	folders bool // it names folders alone
	keep    bool // it begins with "!"
}

// NewIgnored returns what does not belong to programs of the folder dir, by the .gitignore in dir itself. Lines that git
// could not read either are left out.
func NewIgnored(dir string) (all Ignored) {
	text, _ := os.ReadFile(filepath.Join(dir, ".gitignore")) // without one nothing else is ignored
	for line := range strings.Lines(scratch + string(text)) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var r ignoreRule
		line, r.keep = strings.CutPrefix(line, "!")
		line, r.folders = strings.CutSuffix(line, "/")
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		var err error
		if r.path, err = regexp.Compile(expression(strings.TrimPrefix(line, "/"), true)); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// Matches reports whether a file or folder is ignored. Folders above it are not looked at.
func (all Ignored) Matches(path string, folder bool) (ignored bool) {
	for _, r := range all {
		if (folder || !r.folders) && r.path.MatchString(path) {
			ignored = !r.keep
		}
	}
	return ignored
}
