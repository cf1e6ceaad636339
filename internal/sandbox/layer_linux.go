package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TryLayer returns why processes of the plan cannot find layers over the bases, nil if they can. The folders of layers
// will be made below dir. If clear, layers also have to hide folders.
func (p *Plan) TryLayer(dir string, clear bool, bases ...string) (err error) {
	if !p.furnishes {
		return fmt.Errorf("sandbox: layers need private mounts, which are missing: %s", p.missing[MountNS])
	}
	made, err := os.MkdirTemp(dir, "evoalloc-layer-")
	if err != nil {
		return fmt.Errorf("sandbox: making a folder for a layer: %w", err)
	}
	defer func() { err = errors.Join(err, Remove(made)) }()
	if made, err = filepath.EvalSymlinks(made); err != nil {
		return err
	}
	l := Layer{Base: filepath.Join(made, "base"), Upper: filepath.Join(made, "upper"), Work: filepath.Join(made, "work"),
		Target: filepath.Join(made, "target"), Deleted: []string{"gone"}}
	for _, d := range []string{l.Base, l.Upper, l.Work, l.Target} {
		err = errors.Join(err, os.Mkdir(d, 0o700))
	}
	for _, f := range []string{"gone", "kept"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(l.Base, f), []byte("base\n"), 0o600))
	}
	if clear {
		l.Cleared = []string{"cleared"}
		hidden := filepath.Join(l.Base, "cleared")
		err = errors.Join(err, os.Mkdir(hidden, 0o700), os.WriteFile(filepath.Join(hidden, "file"), nil, 0o600), l.Clear())
	}
	layers := []Layer{l}
	for i, base := range bases {
		at := filepath.Join(made, fmt.Sprint(i))
		b := Layer{Base: base, Upper: filepath.Join(at, "upper"), Work: filepath.Join(at, "work"),
			Target: filepath.Join(at, "target"), ReadOnly: true}
		for _, d := range []string{at, b.Upper, b.Work, b.Target} {
			err = errors.Join(err, os.Mkdir(d, 0o700))
		}
		layers = append(layers, b)
	}
	if err != nil {
		return fmt.Errorf("sandbox: making a layer: %w", err)
	}
	cmd := exec.Command("/bin/sh", "-c", "[ ! -e gone ] && [ ! -e cleared ] && read -r x < kept && echo upper > kept && "+
		"echo new > new")
	cmd.Dir, cmd.Env = l.Target, []string{}
	if err := p.Layering(layers).trial(cmd, l.Target); err != nil {
		return fmt.Errorf("sandbox: trying a layer: %w", err)
	}
	if text, err := os.ReadFile(filepath.Join(l.Base, "kept")); err != nil || string(text) != "base\n" {
		return fmt.Errorf("sandbox: trying a layer: its base was changed to %q (%w)", text, err)
	}
	return nil
}

// layers mounts the plan's layers. It comes before the mounts that hide paths.
func (s *script) layers(layers []Layer) {
	for _, l := range layers {
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr,index=off", option(l.Base), option(l.Upper),
			option(l.Work))
		s.mount("mounting a layer on "+l.Target, "overlay", l.Target, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options)
		for _, name := range l.Deleted {
			s.inner = append(s.inner, newCall("deleting "+name, unix.SYS_UNLINKAT, here, s.text(filepath.Join(l.Target, name)),
				0))
		}
		for _, name := range l.Cleared {
			s.inner = append(s.inner,
				newCall("hiding "+name, unix.SYS_UNLINKAT, here, s.text(filepath.Join(l.Target, name)), unix.AT_REMOVEDIR))
		}
		if l.Time.IsZero() {
			continue
		}
		times := [2]unix.Timespec{unix.NsecToTimespec(l.Time.UnixNano()), unix.NsecToTimespec(l.Time.UnixNano())}
		for _, name := range slices.Concat(l.Deleted, l.Cleared) {
			s.inner = append(s.inner, newCall("dating the folder of "+name, unix.SYS_UTIMENSAT, here,
				s.text(filepath.Dir(filepath.Join(l.Target, name))), s.hold(unsafe.Pointer(&times)), 0))
		}
	}
}

// makeOpaque has an overlay hide what a folder of its lower layer has.
func makeOpaque(path string) error { return unix.Setxattr(path, "user.overlay.opaque", []byte("y"), 0) }

// option returns path as the options of a layer take it.
func option(path string) string {
	return strings.NewReplacer(`\`, `\\`, ",", `\,`, ":", `\:`).Replace(path)
}

// targets returns the targets of the layers that a process may change.
func (p *Plan) targets() (paths []string) {
	for _, l := range p.layers {
		if !l.ReadOnly {
			paths = append(paths, l.Target)
		}
	}
	return paths
}

// aboveTargets returns the folders that Landlock has to allow to change, so that layers can be changed. It finds no
// rule about what a mount covers, but those about the folders above it. What else is there, mounts keep as it is.
func (p *Plan) aboveTargets() (paths []string) {
	for _, t := range p.targets() {
		paths = append(paths, filepath.Dir(t))
	}
	return paths
}
