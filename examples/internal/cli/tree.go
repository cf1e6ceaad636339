package cli

import (
	"cmp"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	commands "github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/tree"
)

// Tree are the flags of a tree of files as what is improved.
type Tree struct {
	base, change, frozen, test, score, about string

	dir string // of base
}

func (t *Tree) register(fs *flag.FlagSet) {
	fs.StringVar(&t.base, "base", "",
		"improve a tree of files: this `folder`, which stays as it is, in the place of --task\n"+
			"The result is a patch of it. FOLDER@COMMIT has the files of a git commit; they are kept below --output.")
	fs.StringVar(&t.change, "change", "",
		"with --base: `patterns` of the files that may change, separated by commas, such as pkg/**.go")
	fs.StringVar(&t.frozen, "frozen", frozenByDefault,
		"with --base: `patterns` of files that may not change, or be made, all the same: tests, and what stands beside them")
	fs.StringVar(&t.test, "test", "",
		"with --base: a shell `command` that runs in a candidate's tree first, and has to succeed\n"+
			"Each test that it names as passed in the base, or their number, has to be in its output.")
	fs.StringVar(&t.score, "score", "",
		"with --base: a shell `command` that then runs in a fresh tree, which it can read alone, and prints the score "+
			"as JSON in its last line\nA program that the command runs can print what it wants.")
	fs.StringVar(&t.about, "about", "",
		"with --base: a `file` that says what the tree is and what is to become better")
}

// frozenByDefault are tests, and names by which Python finds something else before or instead of them.
const frozenByDefault = "**_test.go,**/testdata/**,**/test_*.py,**/*_test.py,**/tests/**,**/conftest.py,**/pytest.py," +
	"**/pytest.ini,**/unittest.py,**/unittest/**,**/doctest.py,**/sitecustomize.py,**/usercustomize.py"

// Bases adds the flag of commands that show runs of trees.
func Bases(fs *flag.FlagSet, to *[]string) {
	fs.Var((*repeated)(to), "base",
		"a `folder` that programs are changes of: what they change is shown against it; may be given again")
}

// treeFlags are the flags that need --base.
var treeFlags = []string{"change", "frozen", "test", "score", "about"}

// IsTree reports whether the flags name a tree of files.
func (o *Options) IsTree() bool { return o.Tree.base != "" }

// checkTree checks the flags of a tree.
func (o *Options) checkTree() error {
	for _, name := range treeFlags {
		if o.given[name] && !o.IsTree() {
			return Usagef("--%s has no effect without --base", name)
		}
	}
	switch {
	case !o.IsTree():
		return nil
	case o.given["task"] || o.given["runtime"] || o.Hints:
		return Usagef("--task, --runtime and --hints have no effect with --base")
	case o.Tree.change == "" || o.Tree.score == "":
		return Usagef("--base %s: need --change, patterns of the files that may change, and --score, a command that prints "+
			"the score",
			o.Tree.base)
	case o.Offline():
		return Usagef("--base needs a --model: the offline one changes the numbers of single programs")
	}
	return nil
}

// TreeTask returns the task of the tree. What is wrong with the flags is a [UsageError].
func (o *Options) TreeTask(ctx context.Context) (task.Task, error) {
	dir, err := o.findBase(ctx)
	if err != nil {
		return nil, Usagef("--base %s: %w", o.Tree.base, err)
	}
	o.Tree.dir = dir
	f := o.Tree
	cfg := o.Checkout()
	cfg.Timeout = o.EvalTimeout
	if o.NATS.URL != "" {
		return nil, Usagef("--nats has no effect with --base: trees are scored on this machine")
	}
	passed, err := passing(ctx, cfg, f.test)
	if err != nil {
		return nil, Usagef("--test: %s", inFlags(err.Error()))
	}
	cfg.Build = shell(tested(f.test, passed)) // a step of its own, so that the next one finds a fresh tree
	cfg.Run = inFolder(f.score)
	about := "You improve a tree of files."
	if f.about != "" {
		text, err := os.ReadFile(f.about)
		if err != nil {
			return nil, Usagef("--about: %w", err)
		}
		about = string(text)
	}
	scorer, err := commands.NewEvaluator(cfg)
	if err != nil {
		return nil, Usagef("--base %s: %s", f.base, inFlags(err.Error()))
	}
	t, err := tree.New(tree.Config{
		Base: dir, Open: list(f.change), Frozen: list(f.frozen), About: about, Evaluator: scorer,
	})
	if err != nil {
		return nil, Usagef("--base %s: %s", f.base, inFlags(err.Error()))
	}
	return t, nil
}

// Checkout returns how commands find a program: of a tree the base with its changes, which [Options.TreeTask] has
// found, and of another task its file.
func (o *Options) Checkout() commands.Config {
	cfg := commands.Config{Base: o.Tree.dir, Hide: o.NATS.Secrets(), Env: []string{"PATH"}}
	o.letIn.lets(&cfg)
	if _, err := os.Stat(filepath.Join(cfg.Base, "go.mod")); cfg.Base != "" && err == nil {
		forGo(&cfg)
	}
	return cfg
}

// Trying returns an evaluator of programs of the tree that scores by a shell command in the place of --score, without
// --test.
func (o *Options) Trying(command string) (eval.Evaluator, error) {
	cfg := o.Checkout()
	cfg.Timeout, cfg.Run = o.EvalTimeout, inFolder(command)
	return commands.NewEvaluator(cfg)
}

// The shell's words for what a command that tests prints of tests that passed: go test -v, unittest and pytest.
const passes = `grep -oE -e '--- PASS: [^ ]+|^Ran [0-9]+ tests?|[0-9]+ passed'`

// verbose returns a command that tests so that it names the tests.
func verbose(test string) string {
	if strings.Contains(test, " -v") || strings.Contains(test, " -json") {
		return test
	}
	return strings.Replace(test, "go test ", "go test -v ", 1)
}

// passing returns what a command that tests says of the tests that pass in the base, a line each.
func passing(ctx context.Context, cfg commands.Config, test string) (string, error) {
	if test == "" {
		return "", nil
	}
	cfg.Run = inFolder("{ " + verbose(test) + "\n} 2>&1 | " + passes + " | sort -u")
	e, err := commands.NewEditor(cfg)
	if err != nil {
		return "", err
	}
	out, err := e.Edit(ctx, "base any\n", commands.Job{})
	const most = 64 << 10 // bytes of what a shell is told
	return strings.TrimSpace(out.Stdout[:min(len(out.Stdout), most)]), err
}

// tested returns the shell's words for a command that has to succeed, and to print what passed in the base. Its exit
// status alone could be that of a program that ends the process of its tests.
func tested(test, passed string) string {
	if passed == "" {
		return "{ " + cmp.Or(test, ":") + "\n} >&2"
	}
	return "out=$({ " + verbose(test) + "\n} 2>&1); s=$?; printf '%s\\n' \"$out\" >&2; [ $s -eq 0 ] || exit $s\n" +
		"lost=$(printf '%s\\n' '" + strings.ReplaceAll(passed, "'", "'\\''") + "' | " +
		"grep -vxF -e \"$(printf '%s\\n' \"$out\" | " + passes + ")\")\n" +
		"[ -z \"$lost\" ] || { echo \"not seen to pass:\" $lost >&2; exit 1; }"
}

// inFolder returns what runs a shell command in a program's folder.
func inFolder(command string) []string {
	return append(shell(`cd "$0" && { `+command+"\n}"), "{program}")
}

// shell returns what runs a command as a shell does.
func shell(command string) []string { return []string{"sh", "-c", command} }

// list returns what commas separate.
func list(text string) []string {
	var all []string
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// forGo lets candidates build Go modules: by what this user built and downloaded, which they find and do not change.
func forGo(cfg *commands.Config) {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	cache, modules, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || cache == "" {
		return // and what needs Go says so
	}
	if os.MkdirAll(cache, 0o755) == nil {
		cfg.Caches = append(cfg.Caches, cache)
	}
	cfg.Env = append(cfg.Env, "GOCACHE="+cache, "GOMODCACHE="+modules, "GOPROXY=off", "GOTOOLCHAIN=local",
		"GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -buildvcs=false"))
}

func isTree(t task.Task) bool {
	_, ok := task.As[*tree.Task](t)
	return ok
}

// saveDiff saves what the best program of a tree changes as a patch. Other tasks have none.
func saveDiff(t task.Task, path, program string, save func(path string, data []byte) error) error {
	of, ok := task.As[*tree.Task](t)
	if !ok {
		return nil
	}
	text, err := of.Diff(program)
	if err == nil {
		err = save(path, []byte(text))
	}
	if err == nil {
		Printf("patch        %s\n", path)
	}
	return err
}
