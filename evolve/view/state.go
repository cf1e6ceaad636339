package view

// The page and what feeds it agree on the types of this file and on nothing else. A field is named in JSON as the
// script reads it. Lists by child are columns: 40,000 children are then a few arrays, and not 40,000 objects.

// A Page is all that one page shows: the runs, each a tab, and the studies made of many runs.
type Page struct {
	Title   string  `json:"title"`
	Live    bool    `json:"live"` // the page asks for what is new; a saved report does not
	Runs    []State `json:"runs"`
	Studies []Study `json:"studies"`
}

// A State is what the page shows of one run. A live page is sent the children and rounds that it does not have yet,
// from the indices in From on, and everything else anew.
type State struct {
	ID     string `json:"id"` // of the run in this page; part of addresses
	Name   string `json:"name"`
	From   Cursor `json:"from"`   // where the rows of Children and Rounds begin; the page drops what it has from there on
	Next   Cursor `json:"next"`   // what a live page asks with next: all rows before these stay as they are
	Status string `json:"status"` // "running", "over", "canceled", "error", "stopped" (killed, or nobody has it open)
	Begun  int64  `json:"begun"`  // milliseconds since 1970
	Now    int64  `json:"now"`    // the time of the last record

	Facts   []Fact  `json:"facts"`   // the answer first: what ran, best, cost by class, why it stopped
	Command string  `json:"command"` // that repeats it; "" if it is not known
	Meters  []Meter `json:"meters"`
	Flying  int     `json:"flying"` // calls under way

	Arms      []Arm      `json:"arms"`
	Labels    []string   `json:"labels"` // names that columns of Children index: operators, models, places
	Children  Children   `json:"children"`
	Rounds    Rounds     `json:"rounds"`
	Best      []int      `json:"best"` // rows of the best children, best first; distinct programs
	Line      []Step     `json:"line"` // from the initial program to the best
	Ledgers   []Ledger   `json:"ledgers"`
	Endpoints []Endpoint `json:"endpoints"`
	Places    []Place    `json:"places"` // cells and islands
	Messages  []Note     `json:"messages"`
	// Programs are texts that the page need not ask for, by key. In a report they are the line's, the best and then
	// as many others as fit into the stated size.
	Programs map[string]Code `json:"programs"`
	Omitted  int             `json:"omitted"` // programs that did not fit
	// Texts names the file that has the programs' texts where what the page shows has none; "" if it has them.
	Texts string `json:"texts,omitempty"`
}

// A Cursor says which rows of the columns a page has: all before these.
type Cursor struct {
	Children int `json:"children"`
	Rounds   int `json:"rounds"`
}

// A Fact is one line of the answer.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Note  string `json:"note,omitempty"` // an interval, or what the value leaves out
}

// A Meter is a limit of the budget, or a sum that nothing limits.
type Meter struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Spent    float64 `json:"spent"`
	Reserved float64 `json:"reserved"` // set aside for what is under way
	Limit    float64 `json:"limit"`    // 0 for none
	Rate     float64 `json:"rate"`     // per second, of the last minute; 0 if nothing was spent in it
}

// An Arm is one search.
type Arm struct {
	Name  string  `json:"name"`
	Start float64 `json:"start"` // score of the initial program
	Valid bool    `json:"valid"` // that the initial program is valid
	// Program is the key of the initial program.
	Program string `json:"program"`
}

// Children are columns, a row a child, in the order in which they were taken in. A child that was made again after a
// kill has one row.
type Children struct {
	Arm      []int      `json:"arm"`
	Pull     []int      `json:"pull"`
	Step     []int      `json:"step"`  // of its arm, from 1
	Index    []int      `json:"index"` // in its step, from 0
	ID       []int      `json:"born"`  // order of birth in its arm, from 1
	Parents  [][]int    `json:"parents"`
	Score    []*float64 `json:"score"` // nil if it is invalid or has no program
	State    []int      `json:"state"` // one of the State constants
	Operator []int      `json:"operator"`
	Model    []int      `json:"model"`   // -1 if no model was asked
	Cell     []int      `json:"cell"`    // -1 for none
	Island   []int      `json:"island"`  // -1 for none
	Program  []string   `json:"program"` // key; "" if there is none
	Reason   []string   `json:"reason"`  // why it has no score
	Time     []int64    `json:"time"`    // milliseconds since Begun, without the time in which no process ran
	Calls    []int      `json:"calls"`   // of the run, answered, by then
	Tokens   []int64    `json:"tokens"`
	FLOPs    []float64  `json:"flops"`
	Money    []float64  `json:"money"`
	// SD and Samples are those that scores are means of. They are nil if all scores are of one evaluation.
	SD      []float64 `json:"sd,omitempty"`
	Samples []int     `json:"samples,omitempty"` // 0 for one
}

// What became of a child.
const (
	Valid     = 0
	Invalid   = 1 // it was evaluated and has no score
	Unparsed  = 2 // the reply held no program
	Failed    = 3 // the call failed or stalled
	Abandoned = 4 // the call was given up, or lost in a kill, and was not made again
	Refused   = 5 // by the budget or a gate
)

// Rounds are columns, a row a pull that was drawn.
type Rounds struct {
	Arm    []int     `json:"arm"`
	Prob   []float64 `json:"prob"` // the propensity
	Calls  []int     `json:"calls"`
	Reward []float64 `json:"reward"`
	Over   []bool    `json:"over"`  // its reward was reported
	Best   []float64 `json:"best"`  // of the run when it ended
	Begin  []int64   `json:"begin"` // milliseconds, as Time
	End    []int64   `json:"end"`
}

// A Step is one program of the champion's line. The first is the initial program.
type Step struct {
	Row      int      `json:"row"` // of Children; -1 for the initial program
	Arm      int      `json:"arm"`
	Score    float64  `json:"score"`
	Operator string   `json:"operator"`
	Model    string   `json:"model"`
	Said     string   `json:"said"` // the model's words beside the program, cut to 4 KiB
	Program  string   `json:"program"`
	Diff     []Change `json:"diff"` // to the step before; of the first, nothing. nil: it is not known
}

// The classes of Code.Runs, which the style sheet colours.
const (
	Plain = iota
	Keyword
	String
	Comment
	Number
	Function // the name of a function or a type
	Builtin
	Operator
)

// A Change is a run of lines of a diff.
type Change struct {
	Op   string `json:"op"` // " ", "-", "+", or "@" for lines that were left out
	Text string `json:"text"`
	Old  int    `json:"old"` // number of its first line before, from 1
	New  int    `json:"new"`
}

// Code is a program's text and how to colour it.
type Code struct {
	Text string `json:"text"`
	// Runs are pairs: a length in UTF-16 code units, as the script counts, and a class of the style sheet (0 for plain
	// text). nil means that the text is not coloured.
	Runs []int `json:"runs"`
}

// A Ledger is a table of what each of a kind brought and cost: operators, models, arms.
type Ledger struct {
	Kind string      `json:"kind"` // "operator", "model", "search"
	Rows []LedgerRow `json:"rows"`
}

// A LedgerRow is one operator, model or the like.
type LedgerRow struct {
	Name     string  `json:"name"`
	Children int     `json:"children"`
	Valid    int     `json:"valid"`
	Improved int     `json:"improved"` // better than the best of its search before its step
	Lift     float64 `json:"lift"`     // mean of score - parent's score, of valid children with a valid parent
	LiftSE   float64 `json:"lift_se"`  // its standard error; 0 of fewer than two
	LiftSD   float64 `json:"lift_sd"`  // the mean in standard deviations of all lifts of the page's run
	Last     int     `json:"last"`     // row of the last improvement; -1 for none
	Calls    int     `json:"calls"`
	Tokens   int64   `json:"tokens"`
	FLOPs    float64 `json:"flops"`
	Money    float64 `json:"money"`
}

// An Endpoint is a server of models and how the attempts at it ended.
type Endpoint struct {
	Name     string         `json:"name"`
	Statuses map[string]int `json:"statuses"`
	Latency  float64        `json:"latency"` // median of answered attempts, in seconds
	Errors   []Note         `json:"errors"`  // distinct messages, most frequent first
}

// A Place is a cell of a grid or an island, and the best that it holds.
type Place struct {
	Kind     string  `json:"kind"` // "cell", "island"
	Name     string  `json:"name"`
	At       []int   `json:"at"` // a cell's coordinates
	Children int     `json:"children"`
	Row      int     `json:"row"` // of the best child; -1 for none
	Score    float64 `json:"score"`
}

// A Note is a message and how often it came.
type Note struct {
	Time  int64  `json:"time"`
	Kind  string `json:"kind"` // "stall", "error", "lost", "abandoned", "resumed", "pause", "stop"
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// A Study is the analysis of a sweep or a comparison.
type Study struct {
	Name     string   `json:"name"`
	Facts    []Fact   `json:"facts"`
	Figures  []Figure `json:"figures"`
	Tables   []Table  `json:"tables"`
	Warnings []string `json:"warnings"`
}

// A Figure is a drawing as a file of its own.
type Figure struct {
	Name    string `json:"name"`
	Caption string `json:"caption"`
	SVG     []byte `json:"svg"` // base64 in JSON
}

// A Table is cells of text. Intervals are part of a cell.
type Table struct {
	Name    string     `json:"name"`
	Head    []string   `json:"head"`
	Rows    [][]string `json:"rows"`
	Numeric []bool     `json:"numeric"` // by column: aligned to the right
}
