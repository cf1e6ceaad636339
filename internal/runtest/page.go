package runtest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"regexp"
	"testing"
)

var pageData = regexp.MustCompile(`(?s)<script type="text/plain" id="data">(.*?)</script>`)

// DecodePage decodes the data of the page of a run that write writes into the struct at into, whose fields are some of
// those in evolve/view/state.go.
func DecodePage(t *testing.T, write func(io.Writer) error, into any) {
	t.Helper()
	var file bytes.Buffer
	if err := write(&file); err != nil {
		t.Fatal(err)
	}
	part := pageData.FindSubmatch(file.Bytes())
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
