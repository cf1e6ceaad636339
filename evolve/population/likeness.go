package population

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/internal/lex"
)

// A likeness finds the program that is most like a given one. Two programs are as alike as their sets of shingles, the
// runs of k tokens, are: |A ∩ B|/|A ∪ B| (Jaccard).
//
// It compares with few of them. If B is at least as like A as t, then |A ∩ B| ≥ t·|A|, so that B lacks at most
// (1−t)·|A| of A's shingles. So B has one of any (1−t)·|A| + 1 shingles of A, and those that the fewest programs have
// are looked up. Programs of one search have most of their shingles in common, and those of a change are rare.
//
// Source of shingles: A. Broder, "On the resemblance and containment of documents" (1997). Of the bound: R. Bayardo,
// Y. Ma, R. Srikant, "Scaling up all pairs similarity search" (WWW 2007).
type likeness struct {
	k     int
	docs  []document
	post  map[uint64][]int32 // the documents that have a shingle, in the order in which they came
	place map[int]int32      // of a document by its ID
	dead  int                // documents that were removed
	marks []uint32           // by document: the last search that looked at it
	round uint32
}

// A document is a program as its shingles, sorted.
type document struct {
	id, at int // at is its number in the order of arrival, which searches may be limited by
	set    []uint64
}

func newLikeness(k int) *likeness {
	return &likeness{k: k, post: make(map[uint64][]int32), place: make(map[int]int32)}
}

// shingleSeed makes the hashes of one process. Nothing is decided by their values, only by which are equal.
var shingleSeed = maphash.MakeSeed()

// shingles returns the sorted hashes of the runs of k tokens of a program. A program of fewer has one, of all.
func shingles(program, language string, k int) []uint64 {
	lang, _ := lex.Sure(language)
	words := slices.DeleteFunc(tokensOf(program, lang), func(t string) bool { return strings.HasPrefix(t, lineEnd) })
	var set []uint64
	for i := 0; i == 0 || i+k <= len(words); i++ {
		var h maphash.Hash
		h.SetSeed(shingleSeed)
		for _, w := range words[i:min(i+k, len(words))] {
			h.WriteString(w)
			h.WriteByte(0)
		}
		set = append(set, h.Sum64())
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// Alike returns how alike two programs of a language are, from 0 to 1: |A ∩ B|/|A ∪ B| of their sets of runs of 5 tokens,
// as [Unlike] compares them by default. Comments and layout do not count in a language that is known, such as
// "javascript" or "python".
func Alike(a, b, language string) float64 {
	like, _ := jaccard(shingles(a, language, 5), shingles(b, language, 5), 0)
	return like
}

// add adds a document.
func (l *likeness) add(d document) {
	n := int32(len(l.docs))
	l.docs, l.marks, l.place[d.id] = append(l.docs, d), append(l.marks, 0), n
	for _, s := range d.set {
		l.post[s] = append(l.post[s], n)
	}
}

// remove removes the document with an ID. When most are removed, the rest is put together anew.
func (l *likeness) remove(id int) {
	i, ok := l.place[id]
	if !ok {
		return
	}
	delete(l.place, id)
	l.docs[i].set = nil
	if l.dead++; l.dead <= len(l.docs)/2 {
		return
	}
	docs := l.docs
	*l = *newLikeness(l.k)
	for _, d := range docs {
		if d.set != nil {
			l.add(d)
		}
	}
}

// nearest returns the document that is most like a set, of those that are at least as like as least and arrived in
// from..to−1; of equals the first.
func (l *likeness) nearest(set []uint64, least float64, from, to int) (id int, like float64, found bool) {
	l.round++
	rare := make([][]int32, len(set))
	for i, s := range set {
		rare[i] = l.post[s]
	}
	slices.SortFunc(rare, func(a, b []int32) int { return len(a) - len(b) })
	best := -1
	for i, having := range rare {
		if float64(i) > (1-least)*float64(len(set))+1e-9 {
			break
		}
		for _, n := range having {
			d := &l.docs[n]
			if l.marks[n] == l.round || d.at < from || d.at >= to || d.set == nil {
				continue
			}
			l.marks[n] = l.round
			if j, ok := jaccard(set, d.set, least); ok && (best < 0 || j > like || j == like && d.at < l.docs[best].at) {
				best, like, least = int(n), j, max(least, j)
			}
		}
	}
	if best < 0 {
		return 0, 0, false
	}
	return l.docs[best].id, like, true
}

// jaccard returns how alike two sorted sets are. It reports false as soon as it is sure that they are less alike than
// least: with d elements in one of them alone, they are (|A|+|B|−d)/(|A|+|B|+d) alike.
func jaccard(a, b []uint64, least float64) (float64, bool) {
	both := float64(len(a) + len(b))
	most := int((1-least)/(1+least)*both + 1e-9)
	apart := 0
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			i, j = i+1, j+1
			continue
		case a[i] < b[j]:
			i++
		default:
			j++
		}
		if apart++; apart > most {
			return 0, false
		}
	}
	apart += len(a) - i + len(b) - j
	return (both - float64(apart)) / (both + float64(apart)), apart <= most
}
