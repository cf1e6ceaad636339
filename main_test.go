package evoalloc_test

import (
	"os"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

func TestMain(m *testing.M) {
	code := m.Run()
	notrun.SayLong()
	os.Exit(code)
}
