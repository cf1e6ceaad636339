package cli

import (
	"log"

	"github.com/vbauerster/mpb/v8"
)

// logAbove prints log lines above bars, which would otherwise paint over them. The returned function restores the
// earlier output. It works on slog's default logger, which writes through log's.
func logAbove(bars *mpb.Progress) (end func()) {
	before := log.Writer()
	log.SetOutput(clean{bars})
	return func() { log.SetOutput(before) }
}
