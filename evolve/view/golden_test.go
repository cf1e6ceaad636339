package view

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden file, and the run that it shows if that is not there")

// Parts of a report that are files of their own in this package, and its data.
var (
	policyPart = regexp.MustCompile(`sha256-[^ ]*&#39;`)
	stylePart  = regexp.MustCompile(`(?s)<style>.*?</style>`)
	dataPart   = regexp.MustCompile(`(?s)(<script type="text/plain" id="data">)(.*?)(</script>)`)
	scriptPart = regexp.MustCompile(`(?s)<script>.*?</script>`)
)

// readable returns a report without its script and style, and with its data as indented JSON, so that a difference can
// be read.
func readable(t *testing.T, page []byte) []byte {
	t.Helper()
	part := dataPart.FindSubmatch(page)
	if part == nil {
		t.Fatal("the report has no data")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(part[2])))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, data, "", " "); err != nil {
		t.Fatal(err)
	}
	page = scriptPart.ReplaceAll(stylePart.ReplaceAll(policyPart.ReplaceAll(page, []byte("sha256-")), nil), nil)
	at := dataPart.FindSubmatchIndex(page)
	return bytes.Join([][]byte{page[:at[4]], indented.Bytes(), page[at[5]:]}, nil)
}

// The report of a small run is the same to the byte, each time.
func TestReportGolden(t *testing.T) {
	journalPath, path := filepath.Join("testdata", "small.journal"), filepath.Join("testdata", "small.html")
	if _, err := os.Stat(journalPath); err != nil && *update {
		trial{path: journalPath, arms: 2, n: 4, rounds: 5}.run(t)
	}
	var files [2]bytes.Buffer
	for i := range files {
		page := pageData{Title: "A small run", Runs: []runState{read(t, journalPath).Saved()}}
		if err := render(&files[i], page); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("two reports of one run differ")
	}
	got := readable(t, files[0].Bytes())
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: (-want +got), -update accepts it:\n%s", path, diff)
	}
}
