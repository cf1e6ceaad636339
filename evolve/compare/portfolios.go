package compare

// Members are the unlike searches that [Portfolios] race: softmax, power-law, cells and fronts.
func Members() []Search {
	var members []Search
	for _, s := range append(Baselines(), Populations()...) {
		switch s.Name {
		case "softmax", "power-law", "cells", "fronts":
			members = append(members, s)
		}
	}
	return members
}

// Portfolios are runs that have [Members] as their arms: under [EI] and [Halving], and dealt out in equal shares.
func Portfolios() []Search {
	return []Search{
		Portfolio("portfolio-ei", EI, Width, Members()...),
		Portfolio("portfolio-halving", Halving, Width, Members()...),
		Portfolio("portfolio-even", Even, Width, Members()...),
	}
}

// Searches returns all of this package: [Baselines], [Populations], [Placebos] and [Portfolios].
func Searches() []Search {
	all := append(Baselines(), Populations()...)
	all = append(all, Placebos()...)
	return append(all, Portfolios()...)
}
