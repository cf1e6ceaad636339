package view

import (
	"os"
	"testing"

	"github.com/evoalloc/evoalloc/internal/browsertest"
)

func TestMain(m *testing.M) {
	os.Exit(browsertest.Main(m, "evolve/view"))
}
