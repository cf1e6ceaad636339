package policies

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/bandit/sim"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// readBanks reads the banks of --bank: files that the command bank made, by name or pattern.
func (o *options) readBanks() ([]*sim.Bank, error) {
	var banks []*sim.Bank
	for _, pattern := range o.banks {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			return nil, cli.Usagef("--bank: no file like %q", pattern)
		}
		for _, path := range paths {
			b, err := sim.ReadBankFile(path)
			if err != nil {
				return nil, cli.Usagef("--bank: %w", err)
			}
			if slices.ContainsFunc(banks, func(other *sim.Bank) bool { return other.Task == b.Task && other.N == b.N }) {
				return nil, cli.Usagef("--bank %s: another bank is of %s with N=%d too: play one at a time, as tables tell them "+
					"by these", path, b.Task, b.N)
			}
			banks = append(banks, b)
		}
	}
	return banks, nil
}

// playedN returns the --N to play: that of the banks where the flag is not given, from the lowest.
func (o *options) playedN(banks []*sim.Bank) string {
	if len(banks) == 0 || o.given["N"] {
		return o.children
	}
	var all []int
	for _, b := range banks {
		all = append(all, b.N)
	}
	slices.Sort(all)
	var list []string
	for _, n := range slices.Compact(all) {
		list = append(list, strconv.Itoa(n))
	}
	return strings.Join(list, ",")
}

// at returns the banks that can be played at n children to a generation.
func at(banks []*sim.Bank, n int) []sim.Family {
	var some []sim.Family
	for _, b := range banks {
		if b.N == n {
			some = append(some, b)
		}
	}
	return some
}
