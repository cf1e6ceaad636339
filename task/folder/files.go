package folder

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// The names of the files that are read, and their size limits.
const (
	evaluatorFile = "evaluator.py"
	initialFolder = "initial_program"

	maxProgram  = 4 << 20
	maxSettings = 1 << 20
)

// files are the names of a folder's files: all, and those that are read.
type files struct {
	all               []string
	initial, settings string
	tree              bool // initial is a folder
}

// find returns the names of the files in dir, settings "" if there is none.
func find(dir string, cfg Config) (files, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return files{}, tidy(err)
	}
	var names []string
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	initial, err := findInitial(names, cfg.Initial)
	tree := false
	if folder := cmp.Or(cfg.Initial, initialFolder); errors.Is(err, errNone) && hasFolder(entries, folder) {
		initial, tree, err = folder, true, nil
	}
	if err != nil {
		return files{}, err
	}
	if !slices.Contains(names, evaluatorFile) {
		return files{}, noEvaluator(names)
	}
	settings, err := findSettings(names, cfg.Settings)
	return files{names, initial, settings, tree}, err
}

// hasFolder reports whether there is a folder of that name, which is no link.
func hasFolder(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() && e.Name() == name })
}

// initialStems are the names of initial programs before their ending, and promptStems those of prompts, which are only
// looked for where there is none of a program.
var (
	initialStems = []string{"initial_program", "initial"}
	promptStems  = []string{"initial_prompt"}
)

// errNone says that a folder has no file with an initial program.
var errNone = errors.New("no initial program")

// findInitial returns the name of the initial program.
func findInitial(names []string, chosen string) (string, error) {
	if chosen != "" {
		if !slices.Contains(names, chosen) {
			return "", none("there is no %s, only %s", chosen, listed(names))
		}
		if suffixOf(chosen) == "" {
			return "", fmt.Errorf("%s has no ending, so candidates could not have it", chosen)
		}
		return chosen, nil
	}
	found := named(names, initialStems)
	if len(found) == 0 {
		found = named(names, promptStems)
	}
	switch len(found) {
	case 0:
		return "", none("there is no initial_program.<ending> (nor initial.<ending>, initial_prompt.<ending> or a folder "+
			"initial_program), only %s",
			listed(names))
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("there are %d initial programs, %s: choose one with Config.Initial", len(found), listed(found))
}

// named returns the names with one of the stems before their ending, without backup copies.
func named(names, stems []string) (found []string) {
	for _, n := range names {
		if stem, _, _ := strings.Cut(n, "."); slices.Contains(stems, stem) && !backup(n) {
			found = append(found, n)
		}
	}
	return found
}

// A noneError is errNone in other words.
type noneError struct{ error }

func (noneError) Is(target error) bool { return target == errNone }

func none(format string, args ...any) error { return noneError{fmt.Errorf(format, args...)} }

// backup reports whether name has no ending, or one that editors and tools give to backup copies.
func backup(name string) bool {
	return suffixOf(name) == "" || strings.HasSuffix(name, "~") ||
		slices.Contains([]string{".bak", ".orig", ".rej", ".swp", ".tmp", ".pyc"}, filepath.Ext(name))
}

// suffixOf returns the ending of name from its last dot, or "" if nothing follows the dot.
func suffixOf(name string) string {
	ext := filepath.Ext(name)
	if ext == "." {
		return ""
	}
	return ext
}

// noEvaluator returns the error of a missing evaluator.py, with advice if there is another form.
func noEvaluator(names []string) error {
	if slices.Contains(names, "evaluate.py") {
		return errors.New("there is no evaluator.py, with evaluate(program_path); evaluate.py, ShinkaEvolve's form, is " +
			"called otherwise: an evaluator.py that imports it and returns a dict with combined_score will do")
	}
	return fmt.Errorf("there is no evaluator.py, only %s", listed(names))
}

// findSettings returns the name of the config.yaml, "" if there is none.
func findSettings(names []string, chosen string) (string, error) {
	if chosen != "" {
		if !slices.Contains(names, chosen) {
			return "", fmt.Errorf("there is no %s, only %s", chosen, listed(names))
		}
		return chosen, nil
	}
	yaml, yml := slices.Contains(names, "config.yaml"), slices.Contains(names, "config.yml")
	switch {
	case yaml && yml:
		return "", errors.New("there are config.yaml and config.yml: choose one with Config.Settings")
	case yaml:
		return "config.yaml", nil
	case yml:
		return "config.yml", nil
	}
	return "", nil
}

// listed returns names in one line, at most ten of them.
func listed(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "nothing"
	case n > 10:
		return strings.Join(names[:10], ", ") + fmt.Sprintf(" and %d more", n-10)
	}
	return strings.Join(names, ", ")
}

// readFile returns the text of a file of at most limit bytes in dir itself. The text goes to the model, so a link out
// of dir could expose any file that the user can read.
func readFile(dir, name string, limit int64) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, tidy(err))
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		if isLink(dir, name) {
			err = errors.New("it is a link that leads out of the folder, and its text would be sent to the model: put a copy " +
				"in its place")
		}
		return "", fmt.Errorf("%s: %w", name, tidy(err))
	}
	data, err := readAll(f, name, limit)
	if err == nil && !utf8.Valid(data) {
		err = fmt.Errorf("%s is not UTF-8", name)
	}
	return string(data), err
}

// readBytes returns the contents of a file of at most limit bytes.
func readBytes(dir, name string, limit int64) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, tidy(err))
	}
	return readAll(f, name, limit)
}

// readAll returns the contents of f, of at most limit bytes, and closes f.
func readAll(f *os.File, name string, limit int64) ([]byte, error) {
	defer f.Close() // only read from
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, tidy(err))
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return data, nil
}

// isLink reports whether the file name in dir is a link. If [os.Root] does not open a link to an existing file, the
// link leads out of dir.
func isLink(dir, name string) bool {
	info, err := os.Lstat(filepath.Join(dir, name))
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// tidy removes the path from an error whose caller adds it anyway.
func tidy(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
