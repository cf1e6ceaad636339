package layers_test

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"testing"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// pythonMissing is why no interpreter was found, nil if one was.
var pythonMissing error

func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("LAYERS_KILL_DIR") != "" { // killed runs need no Python
		os.Exit(m.Run())
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // torn journals are the daily bread of these tests
	if _, pythonMissing = python.Find(context.Background()); pythonMissing != nil {
		notrun.Say("evolve/layers", "combinations of Python programs", pythonMissing, "install python3")
	}
	os.Exit(m.Run())
}
