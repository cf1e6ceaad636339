package view

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/internal/browsertest"
)

var measure = flag.Bool("measure", false, "time the page of 40,000 candidates in the browser")

// A run of 40,000 candidates is shown whole. How long that takes is for -measure to say: on a machine that does much
// else it says little.
func TestLargeReport(t *testing.T) {
	const children = 40_000
	p := pageData{Title: "A large run", Runs: []runState{synthetic(children, 10, 2)}}
	address := saved(t, p)
	tab := browsertest.Open(t)
	begun := time.Now()
	tab.Go(address)
	tab.Wait("document.body.dataset.ready && performance.getEntriesByName('redraw').length")
	shown := time.Since(begun)
	unharmed(t, tab)
	valid := 0
	for _, state := range p.Runs[0].Children.State {
		if state == childValid {
			valid++
		}
	}
	says := browsertest.Eval[string](tab, "document.querySelector('#lineage p').textContent.replaceAll(',', '')")
	if want := fmt.Sprintf("%d valid candidates %d without", valid, children-valid); !strings.HasPrefix(says, want) {
		t.Errorf("the lineage says %q, want %q", says, want)
	}
	// The page's tables show a page of rows, and not all that there is.
	if rows := browsertest.Eval[int](tab, "document.querySelectorAll('tbody tr').length"); rows > 500 {
		t.Errorf("the page has %d rows of tables for %d candidates", rows, children)
	}
	if *measure {
		measurePage(t, tab, address, shown)
	}
}

func measurePage(t *testing.T, tab *browsertest.Tab, address string, shown time.Duration) {
	t.Helper()
	size, err := os.Stat(address[len("file://"):])
	if err != nil {
		t.Fatal(err)
	}
	ready := browsertest.Eval[float64](tab, "performance.getEntriesByName('ready')[0].startTime")
	for range 10 {
		n := browsertest.Eval[int](tab, "performance.getEntriesByName('redraw').length")
		tab.Click("#lineage button[aria-label='Zoom in']")
		tab.Wait(fmt.Sprintf("performance.getEntriesByName('redraw').length > %d", n))
	}
	redraws := browsertest.Eval[[]float64](tab, "performance.getEntriesByName('redraw').map(e => e.duration)")
	t.Logf("%d bytes; ready after %.0f ms by the page's clock, %v with the browser's; redraws in ms: %.1f", size.Size(),
		ready, shown, redraws)
}
