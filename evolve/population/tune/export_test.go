package tune

var (
	Minimize   = minimize
	Parameters = parameters
)
