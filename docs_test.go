package evoalloc_test

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
	for name, text := range files {
		if filepath.Ext(name) != ".md" || strings.HasPrefix(name, "docs/measurements/") || name == "CHANGELOG.md" {
			continue
		}
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
