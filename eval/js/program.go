package js

import (
	"fmt"
	"strings"
	"unsafe"

	lib "modernc.org/libquickjs"

	"github.com/evoalloc/evoalloc/eval"
)

// execute runs program, calls its function entry and returns the return value as JSON, or nil and the program's error.
// It runs the program's code, so it must be called under a guard.
func (m *machine) execute(program, entry string, outputLimit, stack int) ([]byte, *eval.ProgramError) {
	code, err := m.compile(program)
	if err != nil {
		return nil, err
	}
	m.context().Feval_internal = 0 // from here on eval and new Function throw
	lib.XJS_SetMaxStackSize(m.tls, m.rt, lib.Tsize_t(m.affordable(code, stack)))
	module := toPointer(code)
	isModule := tag(code) == lib.EJS_TAG_MODULE
	if _, err := m.settle(lib.XJS_EvalFunction(m.tls, m.ctx, code), isModule); err != nil {
		return nil, err
	}
	function, err := m.find(entry, module, isModule)
	if err != nil {
		return nil, err
	}
	result, err := m.settle(lib.XJS_Call(m.tls, m.ctx, function, undefined, 0, 0), true)
	if err != nil {
		return nil, err
	}
	return m.encode(result, outputLimit)
}

// compile compiles program, as a module if it exports anything and as a script otherwise.
func (m *machine) compile(program string) (lib.TJSValue, *eval.ProgramError) {
	const file = "program.js"
	code := m.eval(program, file, lib.MJS_EVAL_TYPE_GLOBAL|lib.MJS_EVAL_FLAG_COMPILE_ONLY)
	if tag(code) != lib.EJS_TAG_EXCEPTION {
		return code, nil
	}
	asScript := m.thrown()
	if !strings.Contains(program, "export") {
		return code, parseError(asScript)
	}
	code = m.eval(program, file, lib.MJS_EVAL_TYPE_MODULE|lib.MJS_EVAL_FLAG_COMPILE_ONLY)
	if tag(code) != lib.EJS_TAG_EXCEPTION {
		return code, nil
	}
	return code, parseError(m.thrown())
}

func parseError(err *eval.ProgramError) *eval.ProgramError {
	err.Reason = "does not compile: " + strings.TrimPrefix(err.Reason, "threw ")
	return err
}

// affordable returns how deep calls may nest in code: at most depth, and at most as many frames of the largest function
// as would fill the machine's memory, since the engine keeps frames elsewhere.
func (m *machine) affordable(code lib.TJSValue, depth int) int {
	const fewest = 64
	frame := int(unsafe.Sizeof(undefined)) * max(1, m.largestFrame(code))
	return max(fewest, min(depth, len(m.mem)/frame))
}

// largestFrame returns how many values the largest frame of code and of the functions in it holds.
func (m *machine) largestFrame(code lib.TJSValue) int {
	if tag(code) == lib.EJS_TAG_MODULE {
		code = (*lib.TJSModuleDef)(unsafe.Add(nil, toPointer(code))).Ffunc_obj
	}
	if tag(code) != lib.EJS_TAG_FUNCTION_BYTECODE {
		return 0
	}
	f := (*lib.TJSFunctionBytecode)(unsafe.Add(nil, toPointer(code)))
	n := int(f.Farg_count) + int(f.Fvar_count) + int(f.Fvar_ref_count) + int(f.Fstack_size)
	if f.Fcpool_count > 0 {
		for _, c := range unsafe.Slice((*lib.TJSValue)(unsafe.Add(nil, f.Fcpool)), f.Fcpool_count) {
			n = max(n, m.largestFrame(c))
		}
	}
	return n
}

// settle runs the pending jobs and returns v, or the settled value if v is a promise and wait is set.
func (m *machine) settle(v lib.TJSValue, wait bool) (lib.TJSValue, *eval.ProgramError) {
	if tag(v) == lib.EJS_TAG_EXCEPTION {
		return v, m.thrown()
	}
	for {
		n := lib.XJS_ExecutePendingJob(m.tls, m.rt, 0)
		if n == 0 {
			break
		}
		if n < 0 {
			return v, m.thrown()
		}
	}
	if !wait || tag(v) != lib.EJS_TAG_OBJECT {
		return v, nil
	}
	switch state := lib.XJS_PromiseState(m.tls, m.ctx, v); state {
	case lib.EJS_PROMISE_PENDING:
		return v, &eval.ProgramError{Reason: "waits for a promise that nothing will settle"}
	case lib.EJS_PROMISE_FULFILLED:
		return lib.XJS_PromiseResult(m.tls, m.ctx, v), nil
	case lib.EJS_PROMISE_REJECTED:
		return v, m.describe(lib.XJS_PromiseResult(m.tls, m.ctx, v))
	}
	return v, nil // not a promise
}

// find returns the program's function entry: in a module, an export of that name or the default export; in a script, a
// variable of that name, however declared, or a member of module.exports.
func (m *machine) find(entry string, module uintptr, isModule bool) (lib.TJSValue, *eval.ProgramError) {
	var places []func() lib.TJSValue
	if isModule {
		namespace := lib.XJS_GetModuleNamespace(m.tls, m.ctx, module)
		places = append(places,
			func() lib.TJSValue { return m.property(namespace, entry) },
			func() lib.TJSValue { return m.property(namespace, "default") })
	} else {
		places = append(places,
			func() lib.TJSValue { return m.property(m.context().Fglobal_var_obj, entry) },
			func() lib.TJSValue { return m.property(m.context().Fglobal_obj, entry) },
			func() lib.TJSValue { return m.exported(entry) })
	}
	for _, look := range places {
		v := look()
		if tag(v) == lib.EJS_TAG_EXCEPTION {
			return v, m.thrown()
		}
		if lib.XJS_IsFunction(m.tls, m.ctx, v) != 0 {
			return v, nil
		}
	}
	return undefined, &eval.ProgramError{Reason: fmt.Sprintf("defines no function %s", entry)}
}

// exported returns module.exports[entry], or module.exports itself if it is a function.
func (m *machine) exported(entry string) lib.TJSValue {
	v := m.context().Fglobal_obj
	for _, name := range []string{"module", "exports"} {
		if v = m.property(v, name); tag(v) != lib.EJS_TAG_OBJECT {
			return v
		}
	}
	if lib.XJS_IsFunction(m.tls, m.ctx, v) != 0 {
		return v
	}
	return m.property(v, entry)
}
