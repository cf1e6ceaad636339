package view

// The types of this file are the interface between the server and the page's script. A field is named in JSON as the
// script reads it. Lists of children are columns, so that 40,000 children are a few arrays and not 40,000 objects.

// pageData is the data of one page.
type pageData struct {
	Title   string     `json:"title"`
	Live    bool       `json:"live"` // the page asks for what is new; a saved report does not
	Runs    []runState `json:"runs"`
	Studies []Study    `json:"studies"`
}

// A runState is the data of one run. A live page receives only new children and rounds, from the indices in From on,
// and everything else in full.
type runState struct {
	ID   string `json:"id"` // of the run in this page; part of addresses
	Name string `json:"name"`
	// where the rows of children and rounds begin; the page drops what it has from there on
	From   rowCursor `json:"from"`
	Next   rowCursor `json:"next"`   // what a live page asks with next: all rows before these stay as they are
	Status string    `json:"status"` // "running", "over", "canceled", "error", "stopped" (killed, or nobody has it open)
	Begun  int64     `json:"begun"`  // milliseconds since 1970
	Now    int64     `json:"now"`    // the time of the last record

	Facts   []Fact       `json:"facts"`   // the answer first: what ran, best, cost by class, why it stopped
	Command string       `json:"command"` // that repeats it; "" if it is not known
	Meters  []meterState `json:"meters"`
	Flying  int          `json:"flying"` // calls under way

	Arms     []armState   `json:"arms"`
	Labels   []string     `json:"labels"` // names that columns of children index: operators, models, places
	Children childColumns `json:"children"`
	Rounds   roundColumns `json:"rounds"`
	Best     []int        `json:"best"` // rows of the best children, best first; distinct programs
	Line     []lineStep   `json:"line"` // from the initial program to the best
	// Tree says that programs are changes of a folder, and Change holds what the best one changes.
	Tree      bool            `json:"tree,omitempty"`
	Change    []lineChange    `json:"change,omitempty"`
	Ledgers   []ledgerTable   `json:"ledgers"`
	Endpoints []endpointState `json:"endpoints"`
	Messages  []message       `json:"messages"`
	// Programs are texts that the page has from the start, by key. In a report they are the line's, the best and then as
	// many others as fit into savedText.
	Programs map[string]programText `json:"programs"`
	Omitted  int                    `json:"omitted"` // programs that did not fit
	// Texts names the file with the programs' texts if the run's data has none; "" otherwise.
	Texts string `json:"texts,omitempty"`
}

// A rowCursor says which rows of the columns a page has: all before Children and Rounds.
type rowCursor struct {
	Children int `json:"children"`
	Rounds   int `json:"rounds"`
}

// A Fact is one line of the page's summary.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Note  string `json:"note,omitempty"` // an interval, or what the value leaves out
	// Setting says that it was given and not found; the page shows it apart.
	Setting bool `json:"setting,omitempty"`
}

// A meterState is a limit of the budget, or a sum without a limit.
type meterState struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Spent    float64 `json:"spent"`
	Reserved float64 `json:"reserved"` // set aside for what is under way
	Limit    float64 `json:"limit"`    // 0 for none
	Rate     float64 `json:"rate"`     // per second, of the last minute; 0 if nothing was spent in it
}

// An armState is one search.
type armState struct {
	Name  string  `json:"name"`
	Start float64 `json:"start"` // score of the initial program
	Valid bool    `json:"valid"` // that the initial program is valid
	// Program is the key of the initial program.
	Program string `json:"program"`
}

// roundColumns are columns with a row for each pull.
type roundColumns struct {
	Arm    []int     `json:"arm"`
	Prob   []float64 `json:"prob"` // the propensity
	Calls  []int     `json:"calls"`
	Reward []float64 `json:"reward"`
	Over   []bool    `json:"over"`  // its reward was reported
	Best   []float64 `json:"best"`  // of the run when it ended
	Begin  []int64   `json:"begin"` // milliseconds, as Time
	End    []int64   `json:"end"`
}

// A lineStep is one program of the champion's line. The first is the initial program.
type lineStep struct {
	Row      int     `json:"row"` // of the children; -1 for the initial program
	Arm      int     `json:"arm"`
	Score    float64 `json:"score"`
	Operator string  `json:"operator"`
	Model    string  `json:"model"`
	// the model's words beside the program or the transcript of a session, cut to 16 KiB
	Said    string       `json:"said"`
	Program string       `json:"program"`
	Diff    []lineChange `json:"diff"` // to the step before; of the first, nothing. nil: it is not known
}

// The classes of programText.Runs, which the style sheet colours.
const (
	tokenPlain = iota
	tokenKeyword
	tokenString
	tokenComment
	tokenNumber
	tokenFunction // the name of a function or a type
	tokenBuiltin
	tokenOperator
)

// A lineChange is a run of lines of a diff.
type lineChange struct {
	Op   string `json:"op"` // " ", "-", "+", "@" for lines that were left out, or "f" for the path of a tree's file
	Text string `json:"text"`
	Old  int    `json:"old"` // number of its first line before, from 1
	New  int    `json:"new"`
}

// programText is a program's text and its colours.
type programText struct {
	Text string `json:"text"`
	// Runs are pairs: a length in UTF-16 code units, as the script counts, and a class of the style sheet (0 for plain
	// text). nil means that the text is not coloured.
	Runs []int `json:"runs"`
}

// A ledgerTable is a table of what each of a kind brought and cost: operators, models, arms.
type ledgerTable struct {
	Kind string      `json:"kind"` // "operator", "model", "search"
	Rows []ledgerRow `json:"rows"`
}

// A ledgerRow is one operator, model or the like.
type ledgerRow struct {
	Name     string  `json:"name"`
	Children int     `json:"children"`
	Valid    int     `json:"valid"`
	Improved int     `json:"improved"` // better than the best of its search before its step
	Lifted   int     `json:"lifted"`   // valid children with a valid parent
	Lift     float64 `json:"lift"`     // mean of their score - parent's score
	LiftSE   float64 `json:"lift_se"`  // its standard error; 0 of fewer than two
	LiftSD   float64 `json:"lift_sd"`  // the mean in standard deviations of all lifts of the page's run
	Last     int     `json:"last"`     // row of the last improvement; -1 for none
	Calls    int     `json:"calls"`
	Tokens   int64   `json:"tokens"`
	FLOPs    float64 `json:"flops"`
	Money    float64 `json:"money"`
}

// An endpointState is a server of models and how the attempts at it ended.
type endpointState struct {
	Name     string         `json:"name"`
	Statuses map[string]int `json:"statuses"`
	Latency  float64        `json:"latency"` // median of answered attempts, in seconds
	Errors   []message      `json:"errors"`  // distinct messages, most frequent first
}

// A message is a message and how often it came.
type message struct {
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
