package layers_test

import (
	"flag"
	"log/slog"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Parse()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // torn journals are the daily bread of these tests
	os.Exit(m.Run())
}
