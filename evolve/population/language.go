package population

import "github.com/evoalloc/evoalloc/task"

// languageOf returns the language of a task's programs by the ending of their files.
func languageOf(t task.Task) string { return task.LanguageOf(task.Ext(t)) }
