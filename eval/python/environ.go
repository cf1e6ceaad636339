package python

import (
	"os"
	"strings"
)

// fixed is the part of the environment that all candidates have. Fixed hash seeds keep the order of sets equal in all
// runs. One thread per interpreter makes several interpreters fast.
var fixed = []string{
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"LANG=C.UTF-8",
	"PYTHONUTF8=1",
	"PYTHONHASHSEED=0",
	"PYTHONDONTWRITEBYTECODE=1",
	"OMP_NUM_THREADS=1",
	"OPENBLAS_NUM_THREADS=1",
	"MKL_NUM_THREADS=1",
	"BLIS_NUM_THREADS=1",
	"NUMEXPR_NUM_THREADS=1",
	"VECLIB_MAXIMUM_THREADS=1",
}

// located are variables without which an interpreter may not find itself or its packages.
var located = []string{"HOME", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
	"SYSTEMROOT"}

// environ returns the environment of an interpreter: fixed variables, located ones, and the named ones. Later entries
// win.
func environ(named []string) []string {
	env := append([]string(nil), fixed...)
	for _, name := range located {
		env = passOn(env, name)
	}
	for _, v := range named {
		if strings.Contains(v, "=") {
			env = append(env, v)
		} else {
			env = passOn(env, v)
		}
	}
	return env
}

func passOn(env []string, name string) []string {
	if value, ok := os.LookupEnv(name); ok {
		env = append(env, name+"="+value)
	}
	return env
}
