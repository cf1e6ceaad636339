package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// Hiding returns a plan like p whose processes cannot read the files and folders at paths. A file is hidden only under
// the names in paths, which must include its other hard links and mounts. Private mounts cover each path with an empty
// file or folder. Without them Landlock allows reading everything but paths, and forbids files that are later put
// beside a path. On Linux it is an error if both are missing. Nothing is hidden under [isolation.None] or on other
// systems.
func (p *Plan) Hiding(paths []string) (*Plan, error) {
	hidden, err := resolveHidden(paths)
	if err != nil || len(hidden) == 0 || p.missing[MountNS] == notWanted {
		return p, err
	}
	if runtime.GOOS == "linux" && p.missing[MountNS] != "" && p.missing[Landlock] != "" {
		return nil, fmt.Errorf("sandbox: nothing here keeps candidates from reading %s, which must be hidden: "+
			"private mounts are missing (%s), and landlock (%s); run the search as a user who cannot read it, "+
			"or choose isolation %v, which runs candidates all the same",
			hidden[0], p.missing[MountNS], p.missing[Landlock], isolation.None)
	}
	q := *p
	q.hidden = append(slices.Clone(p.hidden), hidden...)
	return &q, nil
}

// notWanted is the reason for mechanisms missing under [isolation.None].
const notWanted = "not wanted"

// resolveHidden returns paths without links. A path that holds the folder for temporary files cannot be hidden, since
// candidates run there.
func resolveHidden(paths []string) ([]string, error) {
	tmp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("sandbox: finding the folder for temporary files: %w", err)
	}
	var out []string
	for _, path := range paths {
		real, err := filepath.Abs(path)
		if err == nil {
			real, err = filepath.EvalSymlinks(real)
		}
		if err != nil {
			return nil, fmt.Errorf("sandbox: looking for %s, which must be hidden: %w", path, err)
		}
		if within(tmp, real) {
			return nil, fmt.Errorf("sandbox: %s cannot be hidden: it holds %s, the folder for temporary files, "+
				"where candidates run; hide what is in it, or set TMPDIR", path, tmp)
		}
		out = append(out, real)
	}
	return out, nil
}

// within reports whether path is dir or in it.
func within(path, dir string) bool {
	return path == dir ||
		strings.HasPrefix(path, strings.TrimSuffix(dir, string(os.PathSeparator))+string(os.PathSeparator))
}

// Devices returns the device files that names stand for: a path for itself, a folder for all in it, and "nvidia" for
// what NVIDIA's driver has below root's /dev.
func Devices(root string, names []string) (paths []string, err error) {
	for _, name := range names {
		patterns := []string{name, filepath.Join(name, "*")}
		if name == "nvidia" {
			patterns = []string{filepath.Join(root, "dev/nvidia*"), filepath.Join(root, "dev/nvidia-caps/*")}
		}
		found := len(paths)
		for _, pattern := range patterns {
			files, _ := filepath.Glob(pattern)
			paths = append(paths, slices.DeleteFunc(files, func(file string) bool {
				info, err := os.Stat(file)
				return err != nil || info.IsDir()
			})...)
		}
		if len(paths) == found {
			return nil, fmt.Errorf("sandbox: there is no device %s", name)
		}
	}
	return paths, nil
}
