package house_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "lower the rows of budgets.txt to today's sizes")

const budgets = "internal/house/budgets.txt"

// A size is how many lines that are not blank a folder has, below it not counted.
type size struct{ code, tests int }

// slack returns how far a row may lie above n lines before it must be lowered.
func slack(n int) int { return 20 + n/50 }

// A package keeps within its row. A row that has come to lie far above its package is lowered, so that what was gained
// stays gained.
func TestSizes(t *testing.T) {
	today := sizes(t)
	head, rows, why := readBudgets(t)
	if *update {
		lower(t, head, rows, why, today)
		return
	}
	for _, dir := range slices.Sorted(maps.Keys(today)) {
		is := today[dir]
		row, ok := rows[dir]
		if !ok {
			t.Errorf("%s has no row in %s: add one, and say there why the package is needed", dir, budgets)
			continue
		}
		for _, part := range []struct {
			what    string
			is, row int
		}{{"code", is.code, row.code}, {"tests", is.tests, row.tests}} {
			switch {
			case part.is > part.row:
				t.Errorf("%s has %d lines of %s and may have %d: delete some, or raise its row in %s and say why there",
					dir, part.is, part.what, part.row, budgets)
			case part.row > part.is+slack(part.is):
				t.Errorf("%s has %d lines of %s and a row of %d: lower it with go test ./internal/house -run TestSizes -update",
					dir, part.is, part.what, part.row)
			}
		}
	}
	for dir := range rows {
		if _, ok := today[dir]; !ok {
			t.Errorf("%s has a row in %s and no files", dir, budgets)
		}
	}
}

// readBudgets returns the comment at the head of the table, and for each folder its row and why it was raised.
func readBudgets(t *testing.T) (head string, rows map[string]size, why map[string]string) {
	t.Helper()
	text, err := os.ReadFile(budgets)
	if err != nil {
		t.Fatal(err)
	}
	rows, why = map[string]size{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			head += line
			continue
		}
		row, reason, _ := strings.Cut(line, "#")
		var dir string
		var s size
		if _, err := fmt.Sscan(row, &dir, &s.code, &s.tests); err != nil {
			t.Fatalf("%s: %q is not a folder and two numbers: %v", budgets, line, err)
		}
		if _, twice := rows[dir]; twice {
			t.Fatalf("%s: %s has two rows", budgets, dir)
		}
		rows[dir], why[dir] = s, strings.TrimSpace(reason)
	}
	return head, rows, why
}

// lower writes the table with rows that are at most today's sizes. A folder without a row gets one.
func lower(t *testing.T, head string, rows map[string]size, why map[string]string, today map[string]size) {
	t.Helper()
	var b strings.Builder
	b.WriteString(head)
	for _, dir := range slices.Sorted(maps.Keys(today)) {
		is := today[dir]
		if row, ok := rows[dir]; ok {
			is = size{min(is.code, row.code), min(is.tests, row.tests)}
		}
		fmt.Fprintf(&b, "%-36s %6d %6d", dir, is.code, is.tests)
		if why[dir] != "" {
			fmt.Fprintf(&b, "  # %s", why[dir])
		}
		b.WriteByte('\n')
	}
	if err := os.WriteFile(budgets, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// sizes counts the lines of Go, scripts and style sheets in each folder. What others wrote and what tests read is not
// counted.
func sizes(t *testing.T) map[string]size {
	t.Helper()
	found := map[string]size{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if path == "docs" || name == "testdata" || name == "results" || name == "third_party" || name == "uplot" ||
				path != "." && strings.HasPrefix(name, ".") {
				return filepath.SkipDir
			}
			return nil
		case !slices.Contains([]string{".go", ".js", ".py", ".css"}, filepath.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		s := found[dir]
		if n := countLines(text); strings.HasSuffix(name, "_test.go") {
			s.tests += n
		} else {
			s.code += n
		}
		found[dir] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 40 {
		t.Fatalf("only %d folders have files", len(found))
	}
	return found
}

// countLines counts the lines that are not blank.
func countLines(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}
