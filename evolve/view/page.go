package view

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// files are the page's own, and uPlot as its author published it, which draws the curves: uplot/pins.json says which
// version and with which checksums, and uplot/fetch.sh fetches it anew.
//
//go:embed page.html.tmpl page.css script/*.js uplot/LICENSE uplot/uPlot.iife.min.js uplot/uPlot.min.css
var files embed.FS

// parts are the files of the page's script, in order. Each is one idea. They share one scope, so any part can use
// another's definitions, but only main runs code.
var parts = []string{
	"text", "element", "format", "colour", "data", "run", "pen", "save", "table", "program", "diff",
	"answer", "meters", "best", "curves", "allocation", "layout", "lineage", "explore", "stepper",
	"candidate", "ledgers", "faults", "studies", "live", "main",
}

// script returns the page's one script: uPlot, and then the parts in a scope of their own.
var script = sync.OnceValue(func() string {
	var b strings.Builder
	b.Write(file("uplot/uPlot.iife.min.js"))
	b.WriteString("\n(function () {\n'use strict';\n")
	for _, part := range parts {
		b.Write(file("script/" + part + ".js"))
	}
	b.WriteString("})();\n")
	return b.String()
})

// file returns an embedded file. It panics if the file is missing, which any test that makes a page finds.
func file(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return text
}

// policy returns the page's Content-Security-Policy. Only the one script runs, allowed by its hash. Only images within
// the page are loaded, and only a live page makes requests, to its own server.
func policy(live bool) string {
	sum := sha256.Sum256([]byte(script()))
	connect := "'none'"
	if live {
		connect = "'self'"
	}
	return fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'unsafe-inline'; img-src data:; "+
		"connect-src %s; "+
		"base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]), connect)
}

// sheet is the template's data. Its methods are for readers without JavaScript.
type sheet struct {
	pageData
	Policy string
	Style  template.CSS
	Script template.JS
	// Data is gzip in base64. Its type is HTML because the template would otherwise escape the plus signs in a script
	// element, which a browser does not undo.
	Data template.HTML
}

var layout = sync.OnceValue(func() *template.Template {
	t := template.New("page.html.tmpl").Funcs(template.FuncMap{"line": shortLine, "text": printable.Text,
		"program": bestProgram})
	return template.Must(t.Parse(string(file("page.html.tmpl"))))
})

// render writes the page with its data to w. A live page gets its data from the server, so it contains none and can be
// sent without the token.
func render(w io.Writer, p pageData) error {
	s := sheet{pageData: p, Policy: policy(p.Live), Script: template.JS(script()),
		Style: template.CSS(string(file("uplot/uPlot.min.css")) + string(file("page.css")))}
	if !p.Live {
		data, err := pack(p)
		if err != nil {
			return fmt.Errorf("view: the page's data: %w", err)
		}
		s.Data = template.HTML(data)
	}
	if err := layout().Execute(w, s); err != nil {
		return fmt.Errorf("view: writing the page: %w", err)
	}
	return nil
}

// pack returns p as JSON, compressed, in base64. Equal pages make equal bytes. The best compression takes five times as
// long and saves less than 2 %.
func pack(p pageData) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(p); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// mostLine bounds a name or a value shown without JavaScript, in bytes.
const mostLine = 1000

func shortLine(s string) string {
	s = printable.Line(s[:min(len(s), 4*mostLine)])
	if len(s) <= mostLine {
		return s
	}
	return strings.ToValidUTF8(s[:mostLine], "") + " …"
}

// plainProgram bounds a program shown without JavaScript, in bytes.
const plainProgram = 64 << 10

// bestProgram returns the text of the run's best program, cut to plainProgram, or "" if the page does not have it.
func bestProgram(s runState) string {
	if len(s.Best) == 0 || s.Best[0] >= len(s.Children.Program) {
		return ""
	}
	text := s.Programs[s.Children.Program[s.Best[0]]].Text
	if len(text) > plainProgram {
		text = text[:plainProgram] + "\n(cut here)"
	}
	return printable.Text(text)
}
