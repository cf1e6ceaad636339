package command

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandboxtest"
)

// A candidate cannot read, and so take away, what the user types at a terminal, with either private
// mounts or Landlock.
func TestTerminal(t *testing.T) {
	t.Parallel()
	perFamily(t, func(t *testing.T, family string, ms []isolation.Mechanism) {
		e := without(t, shell, ms)
		name, terminal := sandboxtest.OpenTerminal(t)
		r, err := e.Evaluate(t.Context(), `for f in `+name+` /proc/[0-9]*/root`+name+` /dev/tty /dev/ptmx; do
	dd if=$f iflag=nonblock,noctty bs=4096 count=1 >&2
done
for user in --user --user\ --map-root-user; do # what is under a private /dev
	unshare $user --mount sh -c 'umount -l /dev; umount -l /proc; dd if=`+name+` iflag=nonblock,noctty bs=4096 count=1' >&2
done
echo 1`)
		if err != nil || r.Score != 1 || strings.Contains(r.Artifacts["stderr"], strings.TrimSpace(sandboxtest.Typed)) ||
			strings.Contains(r.Artifacts["stderr"], "records in") {
			t.Errorf("the attack got %+v, %v", r, err)
		}
		sandboxtest.Untouched(t, terminal)
		if r, err := e.Evaluate(t.Context(),
			"head -c 9 /dev/urandom > x; head -c 9 /dev/random > x; head -c 9 /dev/zero > /dev/null; wc -c < x"); err != nil ||
			r.Score != 9 {
			t.Errorf("an honest candidate got %+v, %v", r, err)
		}
	})
}
