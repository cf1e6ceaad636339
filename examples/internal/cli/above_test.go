package cli

import (
	"log"
	"log/slog"
	"strings"
	"testing"

	"github.com/vbauerster/mpb/v8"
)

func TestLogAbove(t *testing.T) {
	var below, above strings.Builder
	before := log.Writer()
	defer log.SetOutput(before)
	log.SetOutput(&below)
	bars := mpb.New(mpb.WithOutput(&above), mpb.WithAutoRefresh())
	bar := bars.AddBar(1)
	end := logAbove(bars)
	slog.Warn("while bars\x1b[2J are drawn")
	end()
	slog.Warn("when they are gone")
	bar.Abort(true)
	bars.Wait()
	if !strings.Contains(above.String(), "WARN while bars") || strings.Contains(above.String(), "\x1b[2J are") {
		t.Errorf("above the bars: %q", above.String())
	}
	if text := below.String(); strings.Contains(text, "while bars") || !strings.Contains(text, "when they are gone") {
		t.Errorf("elsewhere: %q", text)
	}
}
