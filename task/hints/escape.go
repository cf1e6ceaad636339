package hints

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
)

//go:embed analyse.sh
var analyse []byte

// imports are the packages that a program may import to have its escapes analysed. They are the standard library's but
// for those that take long to compile, and none of them needs cgo.
const imports = "bufio bytes cmp container/heap container/list container/ring context crypto/sha256 encoding/base64 " +
	"encoding/binary encoding/hex encoding/json errors fmt hash hash/crc32 hash/crc64 hash/fnv hash/maphash " +
	"index/suffixarray io iter maps math math/big math/bits math/cmplx math/rand math/rand/v2 os reflect regexp runtime " +
	"slices sort strconv strings sync sync/atomic testing time unicode unicode/utf16 unicode/utf8 unique unsafe"

// An escape is something that the compiler puts on the heap.
type escape struct {
	line, column int
	moved        bool // a variable, where it is declared
}

// An escaper runs the compiler, contained, on one file at a time.
type escaper struct {
	dir    string // with the export data of imports and what is copied for each program
	runner *command.Runner
}

// newEscaper asks the go command for the compiler and for what may be imported, and copies the latter: the go command
// forgets what it has built after some days, and a run can take longer.
func newEscaper(ctx context.Context, cfg GoConfig) (e *escaper, err error) {
	dir, err := os.MkdirTemp("", "evoalloc-hints-")
	if err != nil {
		return nil, fmt.Errorf("hints: making a folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	tool, err := ask(ctx, dir, "env", "GOTOOLDIR")
	if err != nil {
		return nil, err
	}
	template := filepath.Join(dir, "template")
	if err := exports(ctx, dir, template); err != nil {
		return nil, err
	}
	compiler := filepath.Join(strings.TrimSpace(tool), "compile")
	runner, err := command.NewRunner(command.Config{
		Args: []string{"sh", "analyse.sh", compiler, "{entry}"}, File: "program.go", Template: template,
		Timeout: 30 * time.Second, CPU: 5 * time.Second, Memory: 2 << 30, Processes: 64, FileBytes: 8 << 20,
		Isolation: cfg.Isolation, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("hints: containing the compiler: %w", err)
	}
	return &escaper{dir, runner}, nil
}

// exports writes the template of each compilation: the script, and where the export data of imports is.
func exports(ctx context.Context, dir, template string) error {
	format := "{{if .Export}}{{.ImportPath}}={{.Export}}{{end}}"
	list, err := ask(ctx, dir, append([]string{"list", "-export", "-f", format}, strings.Fields(imports)...)...)
	if err != nil {
		return err
	}
	if err := os.Mkdir(template, 0o755); err != nil {
		return fmt.Errorf("hints: making a folder: %w", err)
	}
	var cfg strings.Builder
	for i, line := range strings.Fields(list) {
		name, file, _ := strings.Cut(line, "=")
		archive, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("hints: reading what %s exports: %w", name, err)
		}
		kept := filepath.Join(dir, strconv.Itoa(i)+".a")
		if err := os.WriteFile(kept, exported(archive), 0o644); err != nil {
			return fmt.Errorf("hints: keeping what %s exports: %w", name, err)
		}
		fmt.Fprintf(&cfg, "packagefile %s=%s\n", name, kept)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(template, "importcfg"), []byte(cfg.String()), 0o644),
		os.WriteFile(filepath.Join(template, "analyse.sh"), analyse, 0o644))
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
		"GOEXPERIMENT=",
		"CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "PWD="+dir)
	var says strings.Builder
	cmd.Stderr = &says
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("hints: go %s, which has to be on the PATH: %w: %.500s", args[0], err, says.String())
	}
	return string(out), nil
}

// escapes returns what the compiler puts on the heap. ok is false if it does not compile by itself, which programs do
// not that need other files, or import what they may not.
func (e *escaper) escapes(file *ast.File, program string) (found []escape, ok bool, err error) {
	if !importable(file) {
		return nil, false, nil
	}
	name := "program"
	if file.Name.Name == "main" {
		name = "main"
	}
	out, err := e.runner.Run(context.Background(), blank(program), name)
	var bad *eval.ProgramError
	if errors.As(err, &bad) { // it took too much
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("hints: compiling: %w", err)
	}
	var said struct {
		Compiled bool
		Heap     [][3]int
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return nil, false, fmt.Errorf("hints: reading what the compiler says: %w", err)
	}
	for _, h := range said.Heap {
		found = append(found, escape{h[0], h[1], h[2] == 1})
	}
	return found, said.Compiled, nil
}

func (e *escaper) close() error {
	if err := os.RemoveAll(e.dir); err != nil {
		return fmt.Errorf("hints: removing a folder: %w", err)
	}
	return nil
}

// importable reports whether all that file imports may be imported.
func importable(file *ast.File) bool {
	allowed := strings.Fields(imports)
	for _, i := range file.Imports {
		if path, err := strconv.Unquote(i.Path.Value); err != nil || !slices.Contains(allowed, path) {
			return false
		}
	}
	return true
}

// blank returns program with blanks in the place of comments, so that everything stands where it did. Directives are
// comments: the compiler sees none, whether for cgo, embedding, linking, or the names of files and lines.
func blank(program string) string {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(program))
	out := []byte(program)
	var s scanner.Scanner
	s.Init(file, []byte(program), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return string(out)
		}
		if tok != token.COMMENT {
			continue
		}
		// The scanner leaves carriage returns out of text, so it may end later than len(text) says.
		start := file.Offset(pos)
		end := commentEnd(program, start, strings.HasPrefix(text, "/*"))
		for i := start; i < end; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
}

// commentEnd returns where the comment at start ends.
func commentEnd(program string, start int, block bool) int {
	mark, more := "\n", 0
	if block {
		mark, more = "*/", 2
	}
	if i := strings.Index(program[start+2:], mark); i >= 0 {
		return start + 2 + i + more
	}
	return len(program)
}
