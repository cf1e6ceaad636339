package hints

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

//go:embed analyse.sh
var analyse []byte

// imports are the packages that a program may import. They are the standard library's but for those that take long to
// compile, and none of them needs cgo.
const imports = "bufio bytes cmp container/heap container/list container/ring context crypto/sha256 encoding/base64 " +
	"encoding/binary encoding/hex encoding/json errors fmt hash hash/crc32 hash/crc64 hash/fnv hash/maphash " +
	"index/suffixarray io iter maps math math/big math/bits math/cmplx math/rand math/rand/v2 os reflect regexp runtime " +
	"slices sort strconv strings sync sync/atomic testing time unicode unicode/utf16 unicode/utf8 unique unsafe"

// prepare asks the go command for the compiler and for what may be imported, and writes the template of each
// compilation: the script, and where copies of the export data are. The go command forgets what it has built after some
// days, and a run can take longer.
func prepare(ctx context.Context, dir string) (compiler, template string, err error) {
	tool, err := ask(ctx, dir, "env", "GOTOOLDIR")
	if err != nil {
		return "", "", err
	}
	format := "{{if .Export}}{{.ImportPath}}={{.Export}}{{end}}"
	list, err := ask(ctx, dir, append([]string{"list", "-export", "-f", format}, strings.Fields(imports)...)...)
	if err != nil {
		return "", "", err
	}
	var cfg strings.Builder
	for i, line := range strings.Fields(list) {
		name, file, _ := strings.Cut(line, "=")
		archive, err := os.ReadFile(file)
		if err != nil {
			return "", "", fmt.Errorf("hints: reading what %s exports: %w", name, err)
		}
		kept := filepath.Join(dir, strconv.Itoa(i)+".a")
		if err := os.WriteFile(kept, exported(archive), 0o644); err != nil {
			return "", "", fmt.Errorf("hints: keeping what %s exports: %w", name, err)
		}
		fmt.Fprintf(&cfg, "packagefile %s=%s\n", name, kept)
	}
	template = filepath.Join(dir, "template")
	err = errors.Join(os.Mkdir(template, 0o755),
		os.WriteFile(filepath.Join(template, "importcfg"), []byte(cfg.String()), 0o644),
		os.WriteFile(filepath.Join(template, "analyse.sh"), analyse, 0o644))
	return filepath.Join(strings.TrimSpace(tool), "compile"), template, err
}

// exported returns the first member of an archive, which holds what the package exports, without the code: most of it.
// What does not look like an archive is returned whole.
func exported(archive []byte) []byte {
	const magic, header = "!<arch>\n", 60
	if !bytes.HasPrefix(archive, []byte(magic+"__.PKGDEF")) || len(archive) < len(magic)+header {
		return archive
	}
	size, err := strconv.Atoi(strings.TrimSpace(string(archive[len(magic)+48 : len(magic)+58])))
	if end := len(magic) + header + size; err == nil && size >= 0 && end <= len(archive) {
		return archive[:end]
	}
	return archive
}

// ask returns what the go command prints. It runs in dir, outside of any module, without the user's settings for other
// toolchains, systems and experiments, and does not use the network.
func ask(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOENV=off", "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local", "GOPROXY=off",
		"GOEXPERIMENT=", "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "PWD="+dir)
	var says strings.Builder
	cmd.Stderr = &says
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("hints: go %s, which has to be on the PATH: %w: %.500s", args[0], err, says.String())
	}
	return string(out), nil
}
