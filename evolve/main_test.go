package evolve_test

import (
	"flag"
	"log/slog"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "8")                 // those that run in parallel mostly wait
	slog.SetDefault(slog.New(slog.DiscardHandler)) // torn journals are the daily bread of these tests
	os.Exit(m.Run())
}
