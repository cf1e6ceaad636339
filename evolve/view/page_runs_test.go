package view

import (
	"testing"

	"github.com/evoalloc/evoalloc/internal/browsertest"
)

// What was chosen of one run does not hide or mark anything of another, whose searches and rows are others.
func TestAnotherRunIsShownWhole(t *testing.T) {
	first, second := synthetic(400, 4, 1), synthetic(100, 2, 5)
	first.ID, second.ID = "1", "2"
	tab := reported(t, pageData{Title: "Runs", Runs: []runState{first, second}})
	browsertest.Eval[bool](tab, `((() => {
		const search = [...document.querySelectorAll('#lineage label')].find(l => l.textContent.startsWith('search')).querySelector('select');
		search.value = '3';
		search.dispatchEvent(new Event('change'));
	})(), document.querySelector('#best tbody tr').click(), true)`)
	tab.Wait("document.querySelector('#best tr.picked')")
	browsertest.Eval[bool](tab, "document.querySelector('[data-tab=\"1\"]').click(), true")
	tab.Settle()
	counted := browsertest.Eval[string](tab, "document.querySelector('#lineage > .soft').textContent")
	if counted[0] == '0' {
		t.Errorf("the lineage of the other run is filtered by a search of the first: %s", counted)
	}
	if n := browsertest.Eval[int](tab, "document.querySelectorAll('tr.picked').length"); n != 0 {
		t.Errorf("%d rows of the other run are marked", n)
	}
	unharmed(t, tab)
}

// A page with a study opens at it, and its tab can be seen among many.
func TestStudyComesFirst(t *testing.T) {
	p := pageData{Title: "Many", Studies: []Study{{Name: "the study", Facts: []Fact{{Name: "Runs", Value: "24"}},
		Warnings: []string{"m, cannot be said yet: more"}, Tables: []Table{{Name: "t", Head: []string{"a"}}}}}}
	for range 24 {
		p.Runs = append(p.Runs, synthetic(20, 2, 1))
	}
	tab := reported(t, p)
	tab.Wait("document.querySelector('#study').textContent.includes('the study')")
	tab.Wait("document.querySelector('#study').lastElementChild.id === 'study-open'") // below what can be said
	if !browsertest.Eval[bool](tab, `(() => {
		const row = document.querySelector('.tabs').getBoundingClientRect();
		const chosen = document.querySelector('[role=tab][aria-selected=true]').getBoundingClientRect();
		return chosen.left >= row.left && chosen.right <= row.right + 1; })()`) {
		t.Error("the chosen tab is out of sight")
	}
	unharmed(t, tab)
}
