// Package patch is the text of what differs from a base folder: whole files in txtar form, and the names of files that
// are deleted. Equal patches have equal text, so a search can take the text for a program.
package patch

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
)

// The words that begin the lines before the first file.
const (
	baseWord   = "base "
	deleteWord = "delete "
)

// Bounds of what [Parse] reads.
const (
	MostFiles   = 4096
	MostName    = 1024    // bytes of a path
	MostElement = 255     // bytes of a name in it
	MostDeep    = 64      // folders
	MostText    = 1 << 20 // bytes of a file; see [TextOf]
)

// A Patch is what differs from a base folder.
type Patch struct {
	Base    string            // hash of the base that it belongs to
	Files   map[string]string // text of files that are new or changed, by path
	Deleted []string          // paths
}

// String returns the text of p, which [Parse] reads: a line "base HASH", a line "delete PATH" for each deleted file,
// and the files, all sorted by path.
func (p Patch) String() string {
	var head strings.Builder
	fmt.Fprintf(&head, "%s%s\n", baseWord, p.Base)
	for _, name := range slices.Sorted(slices.Values(p.Deleted)) {
		fmt.Fprintf(&head, "%s%s\n", deleteWord, name)
	}
	a := txtar.Archive{Comment: []byte(head.String())}
	for _, name := range p.Paths() {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(p.Files[name])})
	}
	return string(txtar.Format(&a))
}

// Paths returns the paths of new and changed files, sorted.
func (p Patch) Paths() []string { return slices.Sorted(maps.Keys(p.Files)) }

// Clone returns a copy of p that can be changed.
func (p Patch) Clone() Patch {
	files := maps.Clone(p.Files)
	if files == nil {
		files = make(map[string]string)
	}
	return Patch{p.Base, files, slices.Clone(p.Deleted)}
}

// Parse reads what [Patch.String] returns. Files whose text or path no such text can have are an error, and so are
// paths that [CheckPath] refuses, and two that differ in case alone.
func Parse(text string) (Patch, error) {
	if !utf8.ValidString(text) {
		return Patch{}, errors.New("the text is not UTF-8")
	}
	a := txtar.Parse([]byte(text))
	if len(a.Files) > MostFiles {
		return Patch{}, fmt.Errorf("%d files: need at most %d", len(a.Files), MostFiles)
	}
	p := Patch{Files: make(map[string]string, len(a.Files))}
	if err := p.head(string(a.Comment)); err != nil {
		return Patch{}, err
	}
	for _, f := range a.Files {
		if _, twice := p.Files[f.Name]; twice {
			return Patch{}, fmt.Errorf("%s stands there twice", f.Name)
		}
		if err := CheckText(string(f.Data)); err != nil {
			return Patch{}, fmt.Errorf("%s: %w", f.Name, err)
		}
		p.Files[f.Name] = string(f.Data)
	}
	return p, p.check()
}

// head reads the lines before the first file.
func (p *Patch) head(text string) error {
	first, rest, _ := strings.Cut(text, "\n")
	base, ok := strings.CutPrefix(first, baseWord)
	if !ok || base == "" {
		return fmt.Errorf("the text begins with %.60q: need a line %q", first, baseWord+"HASH")
	}
	p.Base = base
	for line := range strings.Lines(rest) {
		name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), deleteWord)
		if !ok {
			return fmt.Errorf("a line is %.60q: need %q, or a file", line, deleteWord+"PATH")
		}
		if p.Deleted = append(p.Deleted, name); len(p.Deleted) > MostFiles {
			return fmt.Errorf("more than %d deleted files", MostFiles)
		}
	}
	return nil
}

// check checks the paths of p.
func (p Patch) check() error {
	seen := make(map[string]string)
	for _, name := range slices.Concat(p.Paths(), p.Deleted) {
		if err := CheckPath(name); err != nil {
			return err
		}
		folded := Fold(name)
		if twin, ok := seen[folded]; ok {
			return fmt.Errorf("%s and %s are one file where case does not count", twin, name)
		}
		seen[folded] = name
	}
	for name := range p.Files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, ok := p.Files[dir]; ok {
				return fmt.Errorf("%s is a file, and the folder of %s", dir, name)
			}
		}
	}
	return nil
}

// CheckPath returns an error unless name is the path of a file in a folder, from there and with slashes, that can be
// made on every system and in a patch: no element is "..", ".git" or ends in a dot or a space, and no character is
// invisible or an accent by itself, and none begins with a hyphen.
func CheckPath(name string) error {
	switch {
	case !fs.ValidPath(name) || name == ".":
		return fmt.Errorf("the path %.200q is not one within the folder", name)
	case len(name) > MostName:
		return fmt.Errorf("the path %.60q... has %d bytes: need at most %d", name, len(name), MostName)
	case strings.Count(name, "/") >= MostDeep:
		return fmt.Errorf("the path %.60q... is more than %d folders deep", name, MostDeep)
	case strings.ContainsAny(name, "\\:*?\"<>|"):
		return fmt.Errorf("the path %.200q has a character that not every system allows", name)
	case strings.ContainsFunc(name, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }):
		return fmt.Errorf("the path %.200q has a character that cannot be seen", name)
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Mn, r) }):
		return fmt.Errorf("the path %.200q has an accent apart from its letter, which some systems join", name)
	}
	for element := range strings.SplitSeq(name, "/") {
		stem, _, _ := strings.Cut(Fold(element), ".")
		switch {
		case strings.HasPrefix(element, "-"):
			return fmt.Errorf("the path %.200q has a name that a command would take for an option", name)
		case len(element) > MostElement:
			return fmt.Errorf("the path %.60q... has a name of %d bytes: need at most %d", name, len(element), MostElement)
		case slices.Contains(devices, strings.TrimSpace(stem)):
			return fmt.Errorf("the path %.200q has the name of a device of Windows", name)
		case IsGit(element) || shortGit.MatchString(element):
			return fmt.Errorf("the path %.200q is in a folder of git", name)
		case strings.TrimSpace(element) != element || strings.HasSuffix(element, "."):
			return fmt.Errorf("the path %.200q has an element that begins or ends with a space, or ends with a dot", name)
		}
	}
	return nil
}

// shortGit is a name that Windows has for .git, which git refuses for that.
var shortGit = regexp.MustCompile(`(?i)^git~[0-9]+$`)

// devices are names that Windows takes for devices, whatever ending they have.
var devices = strings.Fields("con prn aux nul com0 com1 com2 com3 com4 com5 com6 com7 com8 com9 " +
	"lpt0 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9")

// Fold returns what names that differ in case alone share.
func Fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// TextOf returns the text of a file as a patch has it, with an end of the last line. No patch can hold a file that is
// too long or no such text.
func TextOf(content []byte) (string, error) {
	if len(content) > MostText {
		return "", fmt.Errorf("it has more than %d bytes", MostText)
	}
	text := string(content)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text, CheckText(text)
}

// CheckText returns an error unless text can be a file of a patch: it ends with a line end, and has no NUL and no line
// that separates files in txtar form.
func CheckText(text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New("the text is not UTF-8")
	case strings.ContainsRune(text, 0):
		return errors.New("the text has a NUL")
	case text != "" && !strings.HasSuffix(text, "\n"):
		return errors.New("the last line has no end")
	}
	if a := txtar.Parse([]byte(text)); len(a.Files) > 0 {
		return fmt.Errorf("the line %q cannot be in a file: it separates files in a patch", "-- "+a.Files[0].Name+" --")
	}
	return nil
}
