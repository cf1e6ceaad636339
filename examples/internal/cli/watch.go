package cli

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/evolve/view"
)

// Watch are the flags of a page on which runs are watched.
type Watch struct {
	On   bool   // there is a page
	Addr string // where it is served
	// Bases are folders that programs may be changes of; the page shows their files as far as programs change them.
	Bases []string
}

// Register adds the flag to fs.
func (w *Watch) Register(fs *flag.FlagSet) {
	fs.BoolFunc("watch", "show the run on a page while it goes on; --watch=ADDR serves it there, such as 127.0.0.1:8000\n"+
		"The link is printed, and the page stays afterwards until Ctrl-C.", func(text string) error {
		w.On, w.Addr = true, text
		switch strings.ToLower(text) {
		case "true", "yes", "on":
			w.Addr = ""
		case "false", "no", "off":
			w.On, w.Addr = false, ""
		}
		return nil
	})
}

// A Page shows runs in a browser. A nil *Page shows nothing.
type Page struct {
	server *view.Server
	title  string
	bases  []string
}

// Begin serves a page. It returns nil if the flags ask for none.
func (w *Watch) Begin(title string) (*Page, error) {
	if !w.On {
		return nil, nil
	}
	server, err := view.NewServer(view.ServerConfig{Title: title, Bases: w.Bases})
	if err != nil {
		return nil, err
	}
	p := &Page{server: server, title: title, bases: w.Bases}
	if _, err := server.Listen(w.Addr); err != nil {
		p.Close()
		return nil, Usagef("--watch=%s: %w", cmp.Or(w.Addr, view.DefaultAddr), err)
	}
	return p, nil
}

// Follow shows the run of a journal, or the runs of a folder. It prints the link.
func (p *Page) Follow(path string) error {
	if p == nil {
		return nil
	}
	if err := p.server.Follow(path); err != nil {
		return err
	}
	Printf("the page is at %s\n", p.server.URL())
	return nil
}

// pageEnding is that of the name of a run's saved page.
const pageEnding = ".report.html"

// save writes what the page shows of the run of a journal to a file at path. The journal is read for it, as the
// page may be some records behind.
func (p *Page) save(path, from string) error {
	if p == nil {
		return nil
	}
	run, err := view.ReadJournal(context.Background(), from, p.title, p.bases...)
	if err != nil {
		return err
	}
	return SaveReport(path, view.Page{Title: p.title, Runs: []view.Run{run}})
}

// SaveReport writes a page to a file that needs no server, and prints its name.
func SaveReport(path string, page view.Page) error {
	var b bytes.Buffer
	if err := view.Report(&b, page); err != nil {
		return err
	}
	if err := result.SaveFile(path, b.Bytes()); err != nil {
		return err
	}
	Printf("report       %s\n", path)
	return nil
}

// Stay keeps the page until ctx ends, and returns err, what the run ended in.
func (p *Page) Stay(ctx context.Context, err error) error {
	if p == nil || ctx.Err() != nil {
		return err
	}
	if err != nil {
		fmt.Fprintf(Stderr(), "%v\n", err)
	}
	Printf("the page stays until Ctrl-C\n")
	<-ctx.Done()
	return err
}

// Close ends the page.
func (p *Page) Close() error {
	if p == nil {
		return nil
	}
	return p.server.Close()
}
