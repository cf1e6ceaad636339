package command

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// Isolation says what is required of containment: [BestEffort], [Strict] or [None].
type Isolation = sandbox.Isolation

// The levels of isolation.
const (
	// BestEffort uses every mechanism that this machine has, and logs which. It is the default. It is an
	// error at start where candidates could read the memory and environment of this process.
	//
	// On Linux, where there are no user namespaces, it and Strict make this process not dumpable, for good,
	// unless it is root, so that candidates, which are the same user, cannot. Then the process leaves no
	// core dumps, and debuggers, profilers that attach and readers of its environ, fd and maps in /proc
	// (lsof) need root; net/http/pprof and runtime/pprof work.
	BestEffort = sandbox.BestEffort
	// Strict uses every mechanism, and is an error at start where one is missing.
	Strict = sandbox.Strict
	// None uses only what every system has: a process group, limits, and an environment that
	// holds nothing but what is named. Candidates can do what this process's user can, and read this
	// process's keys.
	None = sandbox.None
)

// A Report says which mechanisms of containment are in force, and why others are not.
type Report = sandbox.Report

// Config says how candidates are run. Limits of too little are errors: Timeout and CPU are at least 1 ms,
// Memory 1 MiB, OpenFiles 16, OutputBytes 2, the others 1.
type Config struct {
	// Args are the command and its arguments. In each, {program} stands for the path of the
	// candidate's file, {entry} for the name of the function that a [Runner] is asked to run, and
	// {folder} for the working directory, which is a temporary folder. Required; {program} may be
	// missing only if there is a Template.
	Args []string
	// File is the name of the candidate's file; "" means "program". A compiler may insist on an
	// ending.
	File string
	// Template is a folder that is copied into the working directory for each candidate, before the
	// candidate's file is put there; "" means that it holds nothing else. Files keep their modes, which
	// candidates cannot change where they are contained: a compiler's output can be executed only if it is
	// written into a file of the template that can.
	Template string

	// Timeout is the wall time of one candidate; 0 means 60 s.
	Timeout time.Duration
	// CPU is the processor time of one process; 0 means a second more than Timeout, so that it is
	// always Timeout that a program reaches which loops in one thread.
	CPU time.Duration
	// Memory is the address space of one process in bytes; 0 means 4 GiB.
	Memory int64
	// Processes is how many processes and threads a candidate may have at once; 0 means 256.
	Processes int
	// OpenFiles is the number of open files of one process; 0 means 1024.
	OpenFiles int
	// FileBytes is the size of one file; 0 means 64 MiB.
	FileBytes int64
	// OutputBytes is how much is kept of each of standard output and error, half of it from the
	// end; 0 means 32 KiB. A candidate that prints more than 16 MiB on one of them is ended.
	OutputBytes int
	// ResultBytes is the size of the JSON on standard output; 0 means 4 MiB.
	ResultBytes int

	// Writable are folders, besides the temporary one, that candidates may write to. What one leaves
	// there the next one finds, so a hostile one can spoil them: use them for caches.
	Writable []string
	// Isolation is what is required of containment.
	Isolation Isolation
	// Env holds what candidates see of the environment, NAME=value, or NAME for the value that
	// this process has. Besides, PATH is a fixed list of folders, HOME and TMPDIR are a folder for
	// temporary files, and LANG is C.UTF-8.
	Env []string
	// Logger gets a line at start with the mechanisms that are in force; nil means [slog.Default].
	Logger *slog.Logger
}

// floodBytes is how much a candidate may print on one output before it is ended.
const floodBytes = 16 << 20

// filled returns c with the defaults in place, and all paths absolute.
func (c Config) filled() (Config, error) {
	c.File = cmp.Or(c.File, "program")
	c.Timeout = cmp.Or(c.Timeout, 60*time.Second)
	c.CPU = cmp.Or(c.CPU, c.Timeout+time.Second)
	c.Memory = cmp.Or(c.Memory, 4<<30)
	c.Processes = cmp.Or(c.Processes, 256)
	c.OpenFiles = cmp.Or(c.OpenFiles, 1024)
	c.FileBytes = cmp.Or(c.FileBytes, 64<<20)
	c.OutputBytes = cmp.Or(c.OutputBytes, 32<<10)
	c.ResultBytes = cmp.Or(c.ResultBytes, 4<<20)
	c.Args, c.Env, c.Writable = slices.Clone(c.Args), slices.Clone(c.Env), slices.Clone(c.Writable)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if err := c.validate(); err != nil {
		return c, err
	}
	return c, c.resolve()
}

func (c Config) validate() error {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return fmt.Errorf("command: Config.Args is %q: need a command", c.Args)
	}
	if !slices.ContainsFunc(c.Args, func(a string) bool { return strings.Contains(a, "{program}") }) && c.Template == "" {
		return fmt.Errorf("command: Config.Args is %q: need {program}, where the path of the candidate's file goes", c.Args)
	}
	if c.File != filepath.Base(c.File) || strings.HasPrefix(c.File, ".") {
		return fmt.Errorf("command: Config.File is %q: want a name without folders", c.File)
	}
	for _, v := range []struct {
		name         string
		value, least int64
	}{
		{"Timeout", int64(c.Timeout), int64(time.Millisecond)},
		{"CPU", int64(c.CPU), int64(time.Millisecond)},
		{"Memory", c.Memory, 1 << 20},
		{"Processes", int64(c.Processes), 1},
		{"OpenFiles", int64(c.OpenFiles), 16},
		{"FileBytes", c.FileBytes, 1},
		{"OutputBytes", int64(c.OutputBytes), 2},
		{"ResultBytes", int64(c.ResultBytes), 1},
	} {
		if v.value < v.least {
			return fmt.Errorf("command: Config.%s is %d: need at least %d", v.name, v.value, v.least)
		}
	}
	if err := c.Isolation.Check(); err != nil {
		return fmt.Errorf("command: Config.Isolation: %w", err)
	}
	return nil
}

// resolve finds the command and the folders, so that what is missing is known before anything is
// paid for.
func (c *Config) resolve() error {
	path, err := exec.LookPath(c.Args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return fmt.Errorf("command: looking for %s: %w", c.Args[0], err)
	}
	c.Args[0] = path
	folders := []*string{}
	if c.Template != "" {
		folders = append(folders, &c.Template)
	}
	for i := range c.Writable {
		folders = append(folders, &c.Writable[i])
	}
	for _, f := range folders {
		if *f, err = filepath.Abs(*f); err != nil {
			return fmt.Errorf("command: looking for a folder: %w", err)
		}
		if info, err := os.Stat(*f); err != nil {
			return fmt.Errorf("command: looking for a folder: %w", err)
		} else if !info.IsDir() {
			return fmt.Errorf("command: %s is not a folder", *f)
		}
	}
	return nil
}

func (c Config) bounds() sandbox.Bounds {
	return sandbox.Bounds{CPU: c.CPU, Memory: c.Memory, FileBytes: c.FileBytes, OpenFiles: c.OpenFiles, Processes: c.Processes}
}

// environ returns the environment of a command whose temporary files go to tmp.
func (c Config) environ(tmp string) []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LANG=C.UTF-8",
		"HOME=" + tmp,
		"TMPDIR=" + tmp,
		"TMP=" + tmp,
		"TEMP=" + tmp,
	}
	for _, v := range append([]string{"SYSTEMROOT"}, c.Env...) {
		if strings.Contains(v, "=") {
			env = append(env, v)
		} else if value, ok := os.LookupEnv(v); ok {
			env = append(env, v+"="+value)
		}
	}
	return env
}
