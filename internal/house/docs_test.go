package house_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	aLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	aHeading = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	aFence   = regexp.MustCompile("(?ms)^```.*?^```$")
	aTest    = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*)`")
	aCode    = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]+`")
	aFlag    = regexp.MustCompile(`(?:^|[\s\x60])--([A-Za-z][\w-]*)`)
	declares = regexp.MustCompile(`\.(?:(?:Bool)?Func|(?:Text)?Var|(?:String|U?[Ii]nt(?:64)?|Float64|Bool|Duration)(?:Var)?)` +
		`\([^"]*?"([\w-]+)",`)
	aName    = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	aRow     = regexp.MustCompile("(?m)^- `\\w+\\.go`.*?: ")
	aFile    = regexp.MustCompile("`(\\w+\\.go)`")
	aPage    = regexp.MustCompile(`docs/[\w/-]+\.md(?:#[\w-]+)?`)
	notWords = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// What pages link to is there, the heading too, and so is what comments and messages name.
func TestLinksOfTheDocsLead(t *testing.T) {
	files := sources(t)
	for name, text := range files {
		if filepath.Ext(name) != ".md" {
			for _, page := range aPage.FindAllString(text, -1) {
				leads(t, files, name, page)
			}
			continue
		}
		for _, m := range aLink.FindAllStringSubmatch(text, -1) {
			path, heading, _ := strings.Cut(m[1], "#")
			switch {
			case strings.Contains(path, "://"):
			case path == "":
				leads(t, files, name, name+"#"+heading)
			default:
				leads(t, files, name, filepath.Join(filepath.Dir(name), path)+"#"+heading)
			}
		}
	}
}

// leads wants the file, and the heading if one is given.
func leads(t *testing.T, files map[string]string, from, to string) {
	t.Helper()
	path, heading, _ := strings.Cut(to, "#")
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%s names %s, which is not there", from, path)
		return
	}
	if heading == "" {
		return
	}
	for _, m := range aHeading.FindAllStringSubmatch(aFence.ReplaceAllString(files[path], ""), -1) {
		if slug(m[1]) == heading {
			return
		}
	}
	t.Errorf("%s names %s, which has no heading #%s", from, path, heading)
}

// slug is what a heading is linked by.
func slug(heading string) string {
	return strings.ReplaceAll(notWords.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// The tests that pages name are there. Logs are frozen: a test of theirs may have gone since.
func TestTestsOfTheDocsAreThere(t *testing.T) {
	var tests strings.Builder
	files := sources(t)
	for name, text := range files {
		if strings.HasSuffix(name, "_test.go") {
			tests.WriteString(text)
		}
	}
	named := 0
	for name, text := range pages(files) {
		for _, m := range aTest.FindAllStringSubmatch(text, -1) {
			named++
			if !strings.Contains(tests.String(), "\nfunc "+m[1]+"(") {
				t.Errorf("%s names %s, which is not there", name, m[1])
			}
		}
	}
	if named < 20 {
		t.Errorf("the pages name %d tests: they name one for each rule", named)
	}
}

// The flags that pages name are the tool's.
func TestFlagsOfTheDocsAreThere(t *testing.T) {
	files := sources(t)
	declared := map[string]bool{"help": true, "checkpoint": true} // the flag package's, and OpenEvolve's
	for name, text := range files {
		if strings.HasPrefix(name, "examples/") && !strings.HasSuffix(name, "_test.go") {
			for _, m := range declares.FindAllStringSubmatch(text, -1) {
				declared[m[1]] = true
			}
		}
	}
	named := 0
	for name, text := range pages(files) {
		for _, code := range aCode.FindAllString(text, -1) {
			for line := range strings.Lines(strings.ReplaceAll(code, "\\\n", " ")) {
				if line[0] == '#' || !strings.Contains(line, "evoalloc") && !strings.HasPrefix(line, "`--") {
					continue // a comment, or another program's
				}
				for _, m := range aFlag.FindAllStringSubmatch(line, -1) {
					named++
					if !declared[m[1]] {
						t.Errorf("%s names the flag --%s, which is not there", name, m[1])
					}
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("the pages name %d flags: is the expression right?", named)
	}
}

// What pages name of a package stands in it.
func TestNamesOfTheDocsAreThere(t *testing.T) {
	files := sources(t)
	packages := map[string]string{}
	for name, text := range files {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			packages[filepath.Base(filepath.Dir(name))] += text
		}
	}
	named := 0
	for name, text := range pages(files) {
		for _, m := range aName.FindAllStringSubmatch(text, -1) {
			source, ours := packages[m[1]]
			for _, word := range m[2:] {
				if !ours || word == "" {
					continue
				}
				named++
				if !regexp.MustCompile(`\b` + word + `\b`).MatchString(source) {
					t.Errorf("%s names %s, and package %s has no %s", name, m[0], m[1], word)
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("the pages name %d things of packages: is the expression right?", named)
	}
}

// The files and packages of evolve that contributing.md names are there, and no package below evolve/internal is left out.
func TestFilesOfTheDocsAreThere(t *testing.T) {
	page := sources(t)["docs/contributing.md"]
	rows := 0
	for _, row := range aRow.FindAllString(page, -1) {
		for _, m := range aFile.FindAllStringSubmatch(row, -1) {
			rows++
			if _, err := os.Stat(filepath.Join("evolve", m[1])); err != nil {
				t.Errorf("docs/contributing.md has a row for %s, which is not in evolve", m[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("docs/contributing.md has rows for %d files of evolve: is the expression right?", rows)
	}
	dirs, err := os.ReadDir("evolve/internal")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if !strings.Contains(page, "\n- `"+d.Name()+"`: ") {
			t.Errorf("docs/contributing.md has no row for evolve/internal/%s", d.Name())
		}
	}
}

// pages are the texts of the pages that are kept up to date. Logs and the list of changes name what has gone, and the
// commands of claims are those of the commit that they name.
func pages(files map[string]string) map[string]string {
	kept := map[string]string{}
	for name, text := range files {
		if filepath.Ext(name) == ".md" && !strings.HasPrefix(name, "docs/measurements/") &&
			name != "docs/claims.md" && name != "CHANGELOG.md" {
			kept[name] = text
		}
	}
	return kept
}

// sources are the texts of the module's pages and programs by name.
func sources(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch ext := filepath.Ext(path); {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "results" || len(path) > 1 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case ext == ".md" || ext == ".go":
			text, err := os.ReadFile(path)
			files[filepath.ToSlash(path)] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
