package history

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/internal/patch"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// plainName is a name that no system and no version of git takes for something else.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$`)

// ErrNoProgram says that no candidate of a lineage has a program, so that there is nothing to commit.
var ErrNoProgram = errors.New("history: no candidate has a program yet")

// ErrBase says that the programs of a run are no changes of a folder as it is now.
var ErrBase = errors.New("history: the folder is not the base of the programs, or was changed")

// WriteGit writes the lineage as a stream for git fast-import. Each candidate is a commit, its parents are the commit's
// parents, and its program is a file of that name, "program" for "". An initial program is a root commit. The name is a
// plain one of letters, digits and "._-" that does not begin with a dot.
//
// The commit of a candidate is the ref refs/candidates/NAME, where NAME is [Candidate.Name]. The branch best is the
// best candidate, and arm/K that of arm K. Score, operator and address are in the message, as trailers, too.
//
// The same run gives the same commits, with the same hashes. So does the journal of a run that goes on, for all
// candidates that it has so far. Children without a program are left out.
func (l *Lineage) WriteGit(w io.Writer, file string) error {
	file = cmp.Or(file, "program")
	if !plainName.MatchString(file) {
		return fmt.Errorf("history: the file name is %q: need a name of letters, digits, \".\", \"_\" and \"-\" that "+
			"does not begin with a dot", file)
	}
	s := newStream(w, l, func(c *Candidate) bool { return c.Program != "" })
	return s.write(func(c, _ *Candidate) []string {
		return []string{modify(plainMode, s.blob(c.Program), file)} // in the place of the parent's
	})
}

// Base returns the hash of the folder that the programs are changes of, as those of package tree are, or "" if they are
// not.
func (l *Lineage) Base() string {
	for _, c := range l.Candidates {
		if p, err := patch.Parse(c.Program); err == nil {
			return p.Base
		}
	}
	return ""
}

// WriteTrees writes the lineage as [Lineage.WriteGit] does, with the whole tree of each candidate in its commit: the
// files of the folder base with what the program changes. The branch base, from which all others come, has the folder as
// it is.
//
// The folder must be as it was in the run, which its hash tells. Candidates without a program that is a change of it
// are left out. Empty folders are not in a repository, nor is what is called .git.
func (l *Lineage) WriteTrees(w io.Writer, base string) error {
	hash, err := patch.Walk(base, nil)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	if of := l.Base(); of != hash {
		return fmt.Errorf("%w: they are changes of %q, and %s is %s", ErrBase, of, base, hash)
	}
	s := newStream(w, l, func(c *Candidate) bool {
		p, err := patch.Parse(c.Program)
		return err == nil && p.Base == hash
	})
	t := trees{s, map[string]baseFile{}}
	if err := t.begin(base, hash); err != nil {
		return err
	}
	return s.write(t.changes)
}

// A stream is a lineage that is being written.
type stream struct {
	*Lineage
	w       *bufio.Writer
	commits []int                     // marks of candidates' commits; 0 for those that are left out
	blobs   map[[sha256.Size]byte]int // marks of texts
	marks   int                       // handed out
	root    int                       // mark of the commit that initial programs follow; 0 if there is none
}

func newStream(w io.Writer, l *Lineage, has func(*Candidate) bool) *stream {
	s := &stream{Lineage: l, w: bufio.NewWriterSize(w, 1<<16), commits: make([]int, len(l.Candidates)),
		blobs: map[[sha256.Size]byte]int{}}
	for i := range l.Candidates {
		if has(&l.Candidates[i]) {
			s.marks++
			s.commits[i] = s.marks
		}
	}
	fmt.Fprint(s.w, "feature done\n") // without the done at the end, git takes a stream that broke off for a bad one
	return s
}

// write writes the candidates. changes returns the lines that make the files of one from those of its parent, nil for
// the root.
func (s *stream) write(changes func(c, parent *Candidate) []string) error {
	if s.marks == 0 {
		return ErrNoProgram
	}
	arms := map[int]bool{}
	for i, mark := range s.commits {
		if mark > 0 {
			s.commit(i, changes)
			arms[s.Candidates[i].Arm] = true
		}
	}
	s.branch("best", s.Best())
	delete(arms, -1)
	for _, arm := range slices.Sorted(maps.Keys(arms)) {
		s.branch("arm/"+strconv.Itoa(arm), s.best(arm))
	}
	fmt.Fprint(s.w, "done\n")
	return s.w.Flush()
}

// blob writes a text, unless it is in the stream, and returns its mark.
func (s *stream) blob(text string) int {
	key := sha256.Sum256([]byte(text))
	mark, ok := s.blobs[key]
	if !ok {
		s.marks++
		mark = s.marks
		s.blobs[key] = mark
		fmt.Fprintf(s.w, "blob\nmark :%d\n", mark)
		s.data(text)
	}
	return mark
}

// data writes text by its length, so that nothing in it is taken for a command.
func (s *stream) data(text string) { fmt.Fprintf(s.w, "data %d\n%s\n", len(text), text) }

// commit writes the commit of the candidate at position i.
func (s *stream) commit(i int, changes func(c, parent *Candidate) []string) {
	c := &s.Candidates[i]
	var parent *Candidate
	var parents []int // marks
	for _, p := range c.Parents {
		if s.commits[p] > 0 {
			if parents = append(parents, s.commits[p]); parent == nil {
				parent = &s.Candidates[p]
			}
		}
	}
	if parent == nil && s.root > 0 {
		parents = []int{s.root}
	}
	lines := changes(c, parent)
	s.head("refs/candidates/"+c.Name(), s.commits[i], c.Time, s.message(c))
	verb := "from"
	for _, mark := range parents {
		fmt.Fprintf(s.w, "%s :%d\n", verb, mark)
		verb = "merge"
	}
	fmt.Fprintf(s.w, "%s\n", strings.Join(lines, ""))
}

// head writes the beginning of a commit, which is the ref.
func (s *stream) head(ref string, mark int, at time.Time, message string) {
	// Whoever exports a run and whenever they do, the commits are the same ones: nothing of this process is in them.
	by := fmt.Sprintf("evoalloc <evoalloc@localhost> %d +0000", max(at.Unix(), 0))
	fmt.Fprintf(s.w, "commit %s\nmark :%d\nauthor %s\ncommitter %s\n", ref, mark, by, by)
	s.data(message)
}

// modify returns the line of a commit that puts a blob at a path.
func modify(mode string, blob int, path string) string {
	return fmt.Sprintf("M %s :%d %s\n", mode, blob, quoted(path))
}

// quoted returns a path as git reads one: in quotes if it holds what would end it.
func quoted(path string) string {
	if strings.ContainsAny(path, "\"\\\n") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
	}
	return path
}

// branch writes a branch that points to the candidate at position i. There is none for -1.
func (s *stream) branch(name string, i int) {
	if i >= 0 && s.commits[i] > 0 {
		fmt.Fprintf(s.w, "reset refs/heads/%s\nfrom :%d\n\n", name, s.commits[i])
	}
}

// message returns the message of a candidate's commit. Its first line begins with the score, which is what a reader of
// git log looks for. Only what is known when the candidate is made is in it: a later child must not change the hash of
// an earlier one.
func (l *Lineage) message(c *Candidate) string {
	var b strings.Builder
	score, by, initial := "invalid", cmp.Or(line(c.Operator), PlainRewrite), c.Step == 0
	switch {
	case c.Valid:
		score = strconv.FormatFloat(c.Score, 'g', 6, 64)
	case initial && c.Reason == "":
		score = "unscored"
	}
	fmt.Fprintf(&b, "%s %s", score, c.Name())
	if !initial {
		fmt.Fprintf(&b, " %s", by)
	}
	b.WriteString("\n\n")
	if initial {
		for _, name := range slices.Sorted(maps.Keys(l.Fingerprint)) {
			fmt.Fprintf(&b, "    %s = %s\n", line(name), line(l.Fingerprint[name]))
		}
		b.WriteString("\n")
	}
	if reason := line(c.Reason); reason != "" {
		fmt.Fprintf(&b, "Reason: %s\n\n", reason)
	}
	fmt.Fprintf(&b, "Candidate: %s\n", c.Name())
	if c.Arm >= 0 {
		fmt.Fprintf(&b, "Arm: %d\n", c.Arm)
	}
	if !initial {
		fmt.Fprintf(&b, "Pull: %d\nStep: %d\nIndex: %d\nID: %d\nOperator: %s\n", c.Pull, c.Step, c.Index, c.ID, by)
	}
	for _, kind := range slices.Sorted(maps.Keys(c.Labels)) {
		fmt.Fprintf(&b, "Label: %s=%s\n", line(kind), line(c.Labels[kind]))
	}
	for _, id := range c.Unknown {
		fmt.Fprintf(&b, "Unknown-Parent: %d\n", id)
	}
	fmt.Fprintf(&b, "Valid: %t\n", c.Valid)
	if c.Valid {
		fmt.Fprintf(&b, "Score: %s\n", strconv.FormatFloat(c.Score, 'g', -1, 64))
	}
	if c.Key != "" {
		fmt.Fprintf(&b, "Program: %s\n", line(c.Key))
	}
	return b.String()
}

// line returns s as one line of what can be seen, in at most 200 bytes. A candidate's text may be megabytes: only its
// beginning is cleaned.
func line(s string) string {
	const longest = 200
	s = printable.Line(s[:min(len(s), 4*longest)])
	if len(s) <= longest {
		return s
	}
	cut := longest
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// trees are commits with the files of a base folder and what programs change in it.
type trees struct {
	*stream
	files map[string]baseFile // by path
}

// A baseFile is a file or link of a base.
type baseFile struct {
	mode string
	blob int
}

// Modes of files in git.
const (
	plainMode      = "100644"
	executableMode = "100755"
	linkMode       = "120000"
)

var modes = map[patch.Kind]string{patch.Plain: plainMode, patch.Executable: executableMode, patch.Link: linkMode}

// begin writes the commit of the base.
func (t trees) begin(dir, want string) error {
	if t.marks == 0 {
		return ErrNoProgram
	}
	var lines []string
	hash, err := patch.Walk(dir, func(e patch.Entry) {
		if mode, ok := modes[e.Kind]; ok {
			f := baseFile{mode, t.blob(string(e.Content))}
			t.files[e.Name] = f
			lines = append(lines, modify(f.mode, f.blob, e.Name))
		}
	})
	switch {
	case err != nil:
		return fmt.Errorf("history: %w", err)
	case hash != want:
		return fmt.Errorf("%w while it was read: %s", ErrBase, dir)
	}
	t.marks++
	t.root = t.marks
	t.head("refs/heads/base", t.root, t.Candidates[0].Time, "base "+hash+"\n")
	fmt.Fprintf(t.w, "%s\n", strings.Join(lines, ""))
	return nil
}

// changes returns what differs from the parent's tree: first what is not there any more, since a folder may stand in
// the place of a file.
func (t trees) changes(c, parent *Candidate) (lines []string) {
	var before patch.Patch
	if parent != nil {
		before, _ = patch.Parse(parent.Program) // which was parsed before it was kept
	}
	after, _ := patch.Parse(c.Program)
	names := slices.Concat(before.Paths(), before.Deleted, after.Paths(), after.Deleted)
	slices.Sort(names)
	var added []string
	for _, name := range slices.Compact(names) {
		was, is := t.file(before, name), t.file(after, name)
		switch {
		case was == is:
		case is.blob == 0:
			lines = append(lines, "D "+quoted(name)+"\n")
		default:
			added = append(added, modify(is.mode, is.blob, name))
		}
	}
	return append(lines, added...)
}

// file returns what stands at a path in a tree, and no file if nothing does.
func (t trees) file(p patch.Patch, name string) baseFile {
	old, there := t.files[name]
	text, changed := p.Files[name]
	switch {
	case slices.Contains(p.Deleted, name):
		return baseFile{}
	case !changed:
		return old
	case there && old.mode != linkMode:
		return baseFile{old.mode, t.blob(text)}
	case patch.IsScript(text):
		return baseFile{executableMode, t.blob(text)}
	}
	return baseFile{plainMode, t.blob(text)}
}
