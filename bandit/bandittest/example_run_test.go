package bandittest_test

import (
	"fmt"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/bandit/bandittest"
)

// In a test of one's own, pass t where this example passes a printer.
func ExampleRun() {
	bandittest.Run(printer{}, func() bandit.Policy { return &bandit.UCB1{C: 1} })
	bandittest.Run(printer{}, func() bandit.Policy { return nameless{&bandit.UCB1{C: 1}} })
	// Output:
	// {UCB1(c=1)}: prints: a bandittest_test.nameless does not print itself: give it a String method that names every parameter
}

// nameless hides the String method of a policy.
type nameless struct{ bandit.Policy }

// printer is a [bandittest.T] that prints.
type printer struct{}

var _ bandittest.T = printer{}

func (printer) Helper() {}

func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
