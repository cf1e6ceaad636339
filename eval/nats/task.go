package nats

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// A Task is what programs are scored on. A run and its workers must have equal ones.
type Task struct {
	// Name is printed, and is part of subjects.
	Name string
	// Digest is a hash of all that decides scores, in hexadecimal; see [Digest].
	Digest string
}

var digests = regexp.MustCompile(`^[0-9a-f]{8,64}$`)

// validate returns an error that names the wrong field.
func (t Task) validate() error {
	switch {
	case t.Name == "" || len(t.Name) > 200:
		return fmt.Errorf("nats: Task.Name is %q: want 1 to 200 bytes", t.Name)
	case !digests.MatchString(t.Digest):
		return fmt.Errorf("nats: Task.Digest is %q: want 8 to 64 hexadecimal digits, as Digest returns", t.Digest)
	}
	return nil
}

// token returns the name as one token of a subject. Tasks with equal tokens differ in their digests.
func (t Task) token() string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' {
			return r
		}
		return '_'
	}, t.Name)
}

// String returns the name and the digest.
func (t Task) String() string { return fmt.Sprintf("%q, digest %s", t.Name, t.Digest) }

// Digest returns a hash of the files of a folder, by name and content, and of the versions of the evaluator, its
// settings and the runtime. Whatever changes scores must change the digest. A nil folder has no files. Names that begin
// with a dot, __pycache__ and .pyc files are ignored. A link counts as the file that it leads to. A link to a folder is
// an error, because the folder's files would be missed.
func Digest(folder fs.FS, versions ...string) (string, error) {
	h := sha256.New()
	for _, v := range versions {
		fmt.Fprintf(h, "version %d %s\n", len(v), v)
	}
	if folder != nil {
		if err := hashFiles(h, folder); err != nil {
			return "", fmt.Errorf("nats: making a digest: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func hashFiles(w io.Writer, folder fs.FS) error {
	return fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case strings.HasPrefix(base, ".") || base == "__pycache__" || path.Ext(base) == ".pyc":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		return hashFile(w, folder, name)
	})
}

func hashFile(w io.Writer, folder fs.FS, name string) error {
	info, err := fs.Stat(folder, name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: copy its target into the folder", name)
	}
	f, err := folder.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintf(w, "file %q %d\n", name, info.Size())
	_, err = io.Copy(w, f)
	return err
}

// MaxProgram is the size limit of a program in bytes. A longer program is invalid.
const MaxProgram = 768 << 10

// keyOf returns the key of a sample of program among the runs with the same apart.
func keyOf(apart, program string, sample int) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %d\n%s", apart, sample, program)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (j job) valid() bool { return j.Key == keyOf(j.Apart, j.Program, j.Sample) }

func itoa(n int) string { return strconv.Itoa(n) }
