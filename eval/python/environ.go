package python

import (
	"os"
	"strings"
)

// fixed is what every candidate sees. Hashes that do not change from run to run make the order of a
// set the same in each; one thread to each interpreter is what makes several of them fast.
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
var located = []string{"HOME", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT"}

// environ returns the environment of an interpreter: what is fixed, what it needs to start, and what
// is named. Later entries win.
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
