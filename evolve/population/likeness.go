package population

import (
	"slices"

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
			if j, ok := lex.Jaccard(set, d.set, least); ok && (best < 0 || j > like || j == like && d.at < l.docs[best].at) {
				best, like, least = int(n), j, max(least, j)
			}
		}
	}
	if best < 0 {
		return 0, 0, false
	}
	return l.docs[best].id, like, true
}
