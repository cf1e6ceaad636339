package sweep

import (
	"context"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/evolve/view"
	"github.com/evoalloc/evoalloc/examples/internal/analyze"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// watch begins the page of the sweep, with a tab for each run in the folder, or returns nil without --watch.
func (o *options) watch() (*cli.Page, error) {
	page, err := o.Watch.Begin("sweep " + o.Output)
	if page == nil {
		return nil, err
	}
	if err = os.MkdirAll(o.Output, 0o777); err == nil {
		err = page.Follow(o.Output)
	}
	if err != nil {
		page.Close()
		return nil, err
	}
	return page, nil
}

// saveStudies writes the report of what the sweep's results say, also if it was stopped: a second Ctrl-C ends that.
func saveStudies(ctx context.Context, dir string) error {
	studies, err := analyze.Studies(context.WithoutCancel(ctx), dir)
	if err != nil || len(studies) == 0 {
		return err
	}
	return cli.SaveReport(filepath.Join(dir, "report.html"), view.Page{Title: "sweep " + dir, Studies: studies})
}
