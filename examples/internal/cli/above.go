package cli

import (
	"log"

	"github.com/vbauerster/mpb/v8"
)

// logAbove has what is logged stand above bars, which would paint over what came by another way. The function that it
// returns has it go where it went before. Both are of slog's default logger, which writes by log's.
func logAbove(bars *mpb.Progress) (end func()) {
	before := log.Writer()
	log.SetOutput(clean{bars})
	return func() { log.SetOutput(before) }
}
