//go:build !linux

package timing

import (
	"context"
	"errors"
	"time"
)

// A side is a contained process, and does not exist on this system: NewMachine fails.
type side struct{ called time.Duration }

var errSystem = errors.New("timing: needs Linux")

func allowedCPUs() []int { return nil }

func (e *evaluator) start(context.Context, Image) (*side, error) { return nil, errSystem }

func (s *side) call(context.Context, []byte, int, time.Duration) (duration, error) {
	return duration{}, errSystem
}

func (s *side) input() []byte           { return nil }
func (s *side) copied() []byte          { return nil }
func (s *side) settle(*duration) error  { return errSystem }
func (s *side) explain(err error) error { return err }
func (s *side) close() error            { return nil }
