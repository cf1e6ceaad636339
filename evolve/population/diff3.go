package population

import (
	"slices"
	"strings"
)

// merged returns the program that has of each part what a descendant has made of the ancestor's: the better one's
// where both have changed it. The parts are those of split, if all three programs have as many, and else the lines
// between those that all three have in common (diff3). own reports whether both descendants have a part in it that the
// other does not have.
func merged(ancestor, better, worse string, split func(string) []string) (program string, own bool) {
	a, b, w := split(ancestor), split(better), split(worse)
	if len(a) != len(b) || len(a) != len(w) {
		return "", false
	}
	var out strings.Builder
	fromBetter, fromWorse := false, false
	for i := range a {
		part := b[i]
		if b[i] == a[i] && w[i] != a[i] {
			part, fromWorse = w[i], true
		}
		fromBetter = fromBetter || b[i] != a[i] && b[i] != w[i]
		out.WriteString(part)
	}
	return out.String(), fromBetter && fromWorse
}

// mergedLines is merged with the lines between those in common as parts.
func mergedLines(ancestor, better, worse string) (program string, own bool) {
	a, b, w := lines(ancestor), lines(better), lines(worse)
	inB, inW := matches(a, b), matches(a, w)
	var parts [3][]string
	from := [3]int{}
	cut := func(to [3]int) { // what stands before the next line in common, as a part
		for i, all := range [3][]string{a, b, w} {
			parts[i] = append(parts[i], strings.Join(all[from[i]:to[i]], ""))
		}
	}
	for i := range a {
		if inB[i] < 0 || inW[i] < 0 {
			continue
		}
		at := [3]int{i, inB[i], inW[i]}
		cut(at)
		from = at
		cut([3]int{i + 1, inB[i] + 1, inW[i] + 1})
		from = [3]int{i + 1, inB[i] + 1, inW[i] + 1}
	}
	cut([3]int{len(a), len(b), len(w)})
	of := map[string][]string{ancestor: parts[0], better: parts[1], worse: parts[2]}
	return merged(ancestor, better, worse, func(s string) []string { return of[s] })
}

// lines returns the lines of text with their ends.
func lines(text string) []string { return slices.Collect(strings.Lines(text)) }

// maxLines bounds the lines of a program that is merged by lines, as the time grows with their square.
const maxLines = 2000

// matches returns for each line of a the line of b that it is matched with in a longest common subsequence, −1 for
// none.
func matches(a, b []string) []int {
	same := 0 // lines at the beginning, and then at the end: most of what two programs of one search have
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	end := 0
	for end < min(len(a), len(b))-same && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	of := make([]int, len(a))
	for i := range a {
		of[i] = i
		if i >= len(a)-end {
			of[i] = len(b) - len(a) + i
		}
	}
	for i, j := range between(a[same:len(a)-end], b[same:len(b)-end]) {
		if of[same+i] = -1; j >= 0 {
			of[same+i] = same + j
		}
	}
	return of
}

// between is matches for what is left.
func between(a, b []string) []int {
	longest := make([][]int32, len(a)+1) // of a[i:] and b[j:]
	for i := range longest {
		longest[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	of := make([]int, len(a))
	j := 0
	for i := range a {
		of[i] = -1
		for j < len(b) && a[i] != b[j] && longest[i][j+1] > longest[i+1][j] {
			j++
		}
		if j < len(b) && a[i] == b[j] {
			of[i] = j
			j++
		}
	}
	return of
}
