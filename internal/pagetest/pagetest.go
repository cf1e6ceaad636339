// Package pagetest reads the data of a saved page, for tests of what it shows.
package pagetest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"testing"

	"github.com/evoalloc/evoalloc/evolve/view"
)

var data = regexp.MustCompile(`(?s)<script type="text/plain" id="data">(.*?)</script>`)

// Decode saves a page and decodes its data into the struct at into, whose fields are some of those in evolve/view/state.go.
func Decode(t *testing.T, page view.Page, into any) {
	t.Helper()
	var file bytes.Buffer
	if err := view.Report(&file, page); err != nil {
		t.Fatal(err)
	}
	part := data.FindSubmatch(file.Bytes())
	if part == nil {
		t.Fatal("the page has no data")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(part[1])))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(into); err != nil {
		t.Fatal(err)
	}
}
