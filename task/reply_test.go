package task

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/edit"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// parseTests are replies and what they parse to, "" if there is no program in them.
var parseTests = []struct{ name, language, reply, want, reason string }{
	{"tagged", "javascript", "Sure:\n```javascript\nlet x = 1;\n```\nDone.", "let x = 1;",
		"the plain case"},
	{"alias", "javascript", "```JS\nx\n```", "x",
		"models tag blocks with any name of the language, in any case"},
	{"alias of the task", "py", "```Python3\nx\n```", "x",
		"the task may use an alias too"},
	{"c++", "cpp", "```c++\nx\n```", "x",
		"a name with signs"},
	{"golang", "go", "```golang\nx\n```", "x", "another alias"},
	{"second of two", "python", "```sh\npip install x\n```\n\n```python\nprint(1)\n```", "print(1)",
		"the task's language goes before an earlier block of another"},
	{"first of two", "python", "```python\na\n```\n```python\nb\n```", "a",
		"the first block of the language is the answer"},
	{"not a prefix", "c", "```c++\na\n```\n```c\nb\n```", "b",
		"c and c++ are different languages"},
	{"other language", "python", "```ruby\nputs 1\n```", "puts 1",
		"no block of the language: the first of any"},
	{"no tag", "python", "```\nprint(1)\n```", "print(1)",
		"an untagged block is a block of any language"},
	{"any language", "", "```x\na\n```\n```\nb\n```", "a",
		"a task without a language takes the first block"},
	{"no block", "python", "  \nprint(1)\n\n", "print(1)",
		"no fence at all: the trimmed text"},
	{"CRLF", "javascript", "Text\r\n```js\r\na\r\n\r\nb\r\n```\r\nEnd\r\n", "a\n\nb",
		"line ends of Windows are line ends"},
	{"tildes", "javascript", "~~~js\na\n```\nb\n~~~", "a\n```\nb",
		"only a fence of its own kind closes a block"},
	{"attributes", "javascript", "```js title=\"a b.js\" {1,3}\na\n```", "a",
		"the first word of the info string is the language"},
	{"pandoc attributes", "python", "``` {.python .numberLines}\na\n```", "a",
		"attributes in braces name the language with a dot"},
	{"line numbers", "javascript", "```js{1,3-4}\na\n```", "a", "a brace ends the name"},
	{"file name", "javascript", "```js:main.js\na\n```", "a", "a colon ends the name"},
	{"longer fence", "markdown", "````md\nSee\n```js\na\n```\nend\n````", "See\n```js\na\n```\nend",
		"a longer fence holds shorter ones"},
	{"longer close", "js", "```js\na\n`````", "a",
		"the closing fence may be longer than the opening one"},
	{"indented", "js", "   ```js\n   if (a)\n     b\n  c\n   ```", "if (a)\n  b\nc",
		"as much indentation as the fence has comes off every line"},
	{"four columns", "js", "a\n    ```js\n    b\n    ```", "a\n    ```js\n    b\n    ```",
		"indented by four outside a list it is text: a program's own doc comment looks so"},
	{"list item", "js", "1. First:\n\n     ```js\n     a\n       b\n     ```\n2. Then", "a\n  b",
		"inside a list item a fence may stand further right"},
	{"bullet", "js", "- ```js\n  a\n  ```", "a",
		"a block may begin on the bullet's line"},
	{"after the list", "js", "- one\n\ntext\n\n     ```js\n     x\n     ```",
		"- one\n\ntext\n\n     ```js\n     x\n     ```",
		"text at the left edge ends the list"},
	{"tab", "python", "\t```py", "```py",
		"a tab is four columns: text, and nothing but it"},
	{"unclosed", "js", "Here:\n```js\na\nb\n", "a\nb",
		"a reply cut at the token limit still has a program to try"},
	{"unclosed tag only", "js", "a\n```js", "", "nothing came after the fence"},
	{"empty block first", "js", "```js\n\n```\n```js\na\n```", "a",
		"blocks without anything in them are passed over"},
	{"empty blocks", "js", "text\n```js\n \n```\n", "",
		"fences around nothing are no program, and the text around them is none either"},
	{"fenced twice", "js", "```\n```js\na\n```\n```", "a",
		"an opening fence inside a block ends it: the model fenced twice"},
	{"not closed before the next", "js", "```sh\nnpm i\n```js\na\n```", "a",
		"a forgotten closing fence does not hide the next block"},
	{"code in text", "js", "Use ```x``` and\n```not a fence`\n```js\na\n```", "a",
		"backticks after the fence make it code in running text"},
	{"two backticks", "js", "``\na\n``", "``\na\n``", "a fence has at least three"},
	{"empty", "js", "", "", "nothing"},
	{"space", "js", " \r\n\t\ufeff", "", "white space and a byte order mark are nothing"},
	{"byte order mark", "js", "\ufeff```js\na\n```", "a", "a mark does not hide the first fence"},
	{"last line end", "js", "```js\na\n\n```", "a\n",
		"only the line end before the closing fence belongs to the fence"},
	{"thinking", "js", "<think>\nMaybe\n```js\ndraft\n```\n</think>\n\n```js\na\n```", "a",
		"a draft inside the thinking is not the answer"},
	{"thinking, unclosed draft", "js", "<think>\n```js\ndraft\n</think>\n```js\na\n```", "a",
		"nor if its block is not closed"},
	{"thinking, no block", "js", "<think>```js\nx\n```</think>a", "a",
		"the trimmed text is that after the thinking"},
	{"thinking, empty", "js", "\n<think>\n\n</think>\n\n```js\na\n```", "a",
		"models told not to think send an empty section"},
	{"thinking twice", "js", "<think>a</think>\n<think>b\n```js\nc\n```\n</think>d", "d",
		"each section at the start is dropped"},
	{"thinking, unclosed", "js", "<think>\n```js\na\n```", "",
		"cut off while thinking: all that is fenced is a draft"},
	{"thinking only", "js", "<think>a</think>\n", "", "nothing after it"},
	{"no opening tag", "js", "Let me see\n```js\ndraft\n```\n</think>\n\n```js\na\n```", "a",
		"templates that put <think> into the prompt"},
	{"no opening tag, unclosed draft", "js", "See\n```js\ndraft\n</think>\n```js\na\n```", "a",
		"a draft left open does not hide the tag"},
	{"no opening tag, same line", "js", "So that is it.</think>\n```js\na\n```", "a",
		"the tag ends a line"},
	{"tag in the program", "js", "```js\ncut(s, \n`</think>\n`)\n```", "cut(s, \n`</think>\n`)",
		"in a closed block the tag belongs to the program"},
	{"tag in the text", "js", "```js\na\n```\nIt drops the </think> tag now.", "a",
		"inside a line the tag is talked about"},
	{"think later", "js", "```js\na\n```\n<think>b</think>", "a", "a section is cut wherever it stands"},
	{"NUL", "js", "```js\na\x00b\n```", "", "a NUL would end the program early in some interpreters"},
	{"not UTF-8", "js", "```js\na\xff\n```", "", "a journal could not give it back"},
	{"closed at a line's end", "js", "Here:\n```js\nf()\nreturn 1;```\nThat is all.", "f()\nreturn 1;",
		"the model forgot the line end before the closing fence"},
	{"closed at a line's end, then another", "js", "```js\nreturn 1;```\n\n```text\nnot this\n```", "return 1;",
		"the first one counts"},
	{"closing fence indented by four", "js", "```js\nreturn 1;\n    ```\n", "return 1;",
		"no other fence closes the block"},
	{"fence in a string", "js", "```js\nf(\"```\")\nreturn '```'\n```", "f(\"```\")\nreturn '```'",
		"a block that is closed is left as it is"},
	{"not UTF-8 outside", "js", "\xff\x00\n```js\na\n```", "a", "only the program has to be clean"},
}

func TestParseProgram(t *testing.T) {
	for _, tt := range parseTests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseProgram(tt.reply, tt.language)
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("ParseProgram(%q, %q) = %q, %v, want %q: %s", tt.reply, tt.language, got, err, tt.want, tt.reason)
			}
		})
	}
}

func TestParseProgramErrors(t *testing.T) {
	tests := []struct{ reply, want, reason string }{
		{"", "task: no program in the reply: it is empty", "nothing came"},
		{"<think>a", "task: no program in the reply: it is all thinking", "something came, but no answer"},
		{"x\n```\n```", "task: no program in the reply: its fenced blocks are empty", "an answer without content"},
		{"```\nab\x00\n```", "task: no program in the reply: byte 2 is NUL", "the place is named"},
		{"a\xc3(", "task: no program in the reply: byte 1 is 0xc3, which is not UTF-8", "the byte is named"},
		{"\ufffd\xff", "task: no program in the reply: byte 3 is 0xff, which is not UTF-8", "U+FFFD itself is text"},
	}
	for _, tt := range tests {
		if _, err := ParseProgram(tt.reply, "js"); err == nil || err.Error() != tt.want {
			t.Errorf("ParseProgram(%q): %v, want %s: %s", tt.reply, err, tt.want, tt.reason)
		}
	}
}

// Hostile replies are megabytes of what a scanner might look through again and again. A quadratic pass over them never
// ends: 4 MB squared is days.
func TestParseProgramHuge(t *testing.T) {
	n := notrun.Length(1<<18, 4<<20)
	for _, unit := range []string{"`", "```\n", "```js\n", "~~~\n", "</think>", "</think>\n", "<think></think>",
		"<think>", "- ", "- ```js\n", "1", " ", "\t", "\r\n", "\r", "> ", "```js\n</think>\n", "`~"} {
		reply := strings.Repeat(unit, n/len(unit))
		if program, err := ParseProgram(reply, "javascript"); err == nil && len(program) > len(reply) {
			t.Errorf("%d bytes of %q are a program of %d", len(reply), unit, len(program))
		}
	}
}

func FuzzParseProgram(f *testing.F) {
	for _, s := range []string{"", "```js\na\n```", "<think>\n```js\na\n```\n</think>\n~~~ js\nb\n~~~", "a\r\n```\r\nb",
		"- ```js\n  a\n  ```", "````\n```js\n````", "x </think>\n", "```js\n```js\n```", "\ufeff`", "a\x00", "\t```\n"} {
		f.Add(s, "js")
	}
	f.Add("```{.python}\nx", "Python3")
	f.Fuzz(func(t *testing.T, s, language string) {
		checkParsed(t, s, language)
		if trim(s) != "" && checkText(s) == nil && !strings.ContainsFunc(language, unfitForTag) {
			checkRoundTrip(t, s, language)
		}
	})
}

// checkParsed checks what holds of whatever a reply parses to.
func checkParsed(t *testing.T, reply, language string) {
	program, err := ParseProgram(reply, language)
	if (err == nil) != (program != "") {
		t.Fatalf("program %q, error %v", program, err)
	}
	if err != nil {
		return
	}
	if trim(program) == "" || checkText(program) != nil || len(program) > len(reply) {
		t.Fatalf("ParseProgram(%q) = %q", reply, program)
	}
	if strings.HasPrefix(trim(reply), "<think>") && !strings.Contains(reply, "</think>") {
		t.Fatalf("ParseProgram(%q) = %q, out of thinking that does not end", reply, program)
	}
	// Text without a fence or thinking is its own program, so parsing it again changes nothing.
	if !strings.ContainsAny(program, "`~<") && !strings.Contains(program, "\r\n") {
		if again, err := ParseProgram(program, language); again != trim(program) || err != nil {
			t.Fatalf("%q parsed again is %q, %v", program, again, err)
		}
	}
}

// checkRoundTrip checks that a program in a block of our own comes back, also with talk around it.
func checkRoundTrip(t *testing.T, program, language string) {
	// A last "\r" meets the line end before the closing fence.
	want := edit.Dedent(strings.TrimSuffix(strings.ReplaceAll(program+"\n", "\r\n", "\n"), "\n"), "")
	block := Fence(program, language)
	for _, reply := range []string{
		block,
		"Here it is:\n\n" + block + "\n\nIt is better.",
		"<think>\n" + "```" + language + "\ndraft\n```\n</think>\n" + block,
		"Thinking without a tag ```\n</think>\n" + block + "\n" + Fence("second", language),
	} {
		if got, err := ParseProgram(reply, language); got != want || err != nil {
			t.Fatalf("ParseProgram(%q, %q) = %q, %v, want %q", reply, language, got, err, want)
		}
	}
}
