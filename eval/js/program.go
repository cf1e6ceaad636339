package js

import (
	"fmt"
	"strings"
	"unsafe"

	lib "modernc.org/libquickjs"
)

// execute runs program, calls its function entry and returns the return value as JSON. Errors are the program's. It
// runs the program's code, so it must be called under a guard.
func (m *machine) execute(program, entry string) ([]byte, error) {
	find := m.eval(fmt.Sprintf(lookup, entry), "lookup.js", script)
	code, err := m.compile(program)
	if err != nil {
		return nil, err
	}
	at[lib.TJSContext](m.ctx).Feval_internal = 0 // from here on eval and new Function throw
	lib.XJS_SetMaxStackSize(m.tls, m.rt, lib.Tsize_t(m.affordable(code)))
	module, isModule := pointer(code), tag(code) == lib.EJS_TAG_MODULE
	if _, err := m.settle(lib.XJS_EvalFunction(m.tls, m.ctx, code), isModule); err != nil {
		return nil, err
	}
	var function lib.TJSValue
	if isModule {
		function = m.export(module, entry)
	} else {
		function = lib.XJS_EvalFunction(m.tls, m.ctx, find)
	}
	switch {
	case tag(function) == lib.EJS_TAG_EXCEPTION:
		return nil, m.thrown()
	case lib.XJS_IsFunction(m.tls, m.ctx, function) == 0:
		return nil, wrong("defines no function %s", entry)
	}
	result, err := m.settle(lib.XJS_Call(m.tls, m.ctx, function, undefined, 0, 0), true)
	if err != nil {
		return nil, err
	}
	m.openReserve()
	out, ok := m.call(m.encoder, result)
	switch {
	case !ok:
		return nil, m.thrown()
	case len(out) > maxOutput: // longer in UTF-8 than the encoder took it for
		return nil, wrong("returned more than %d bytes of JSON", maxOutput)
	}
	return out, nil
}

const script = lib.MJS_EVAL_TYPE_GLOBAL | lib.MJS_EVAL_FLAG_COMPILE_ONLY

// lookup finds a script's function: a variable of its name, however declared, or a member of module.exports.
const lookup = `typeof %[1]s === 'function' ? %[1]s : typeof module === 'undefined' ? undefined :
	typeof module?.exports === 'function' ? module.exports : module?.exports?.%[1]s`

// compile compiles program, as a module if it exports anything and as a script otherwise.
func (m *machine) compile(program string) (lib.TJSValue, error) {
	const file, module = "program.js", lib.MJS_EVAL_TYPE_MODULE | lib.MJS_EVAL_FLAG_COMPILE_ONLY
	code := m.eval(program, file, script)
	if tag(code) != lib.EJS_TAG_EXCEPTION {
		return code, nil
	}
	err := m.thrown()
	if strings.Contains(program, "export") {
		if code = m.eval(program, file, module); tag(code) != lib.EJS_TAG_EXCEPTION {
			return code, nil
		}
		err = m.thrown()
	}
	err.Reason = "does not compile: " + strings.TrimPrefix(err.Reason, "threw ")
	return code, err
}

// affordable returns how deep calls may nest in code: at most maxDepth, and at most as many frames of the largest
// function as would fill the program's memory, since the engine keeps frames elsewhere.
func (m *machine) affordable(code lib.TJSValue) int {
	if tag(code) == lib.EJS_TAG_MODULE {
		code = at[lib.TJSModuleDef](pointer(code)).Ffunc_obj
	}
	frame := int(unsafe.Sizeof(undefined)) * max(1, largestFrame(code))
	return max(64, min(maxDepth, m.limit/frame))
}

// largestFrame returns how many values the largest frame of code and of the functions in it holds.
func largestFrame(code lib.TJSValue) int {
	if tag(code) != lib.EJS_TAG_FUNCTION_BYTECODE {
		return 0
	}
	f := at[lib.TJSFunctionBytecode](pointer(code))
	n := int(f.Farg_count) + int(f.Fvar_count) + int(f.Fvar_ref_count) + int(f.Fstack_size)
	for i := range uintptr(f.Fcpool_count) {
		n = max(n, largestFrame(*at[lib.TJSValue](f.Fcpool + i*unsafe.Sizeof(undefined))))
	}
	return n
}

// settle runs the pending jobs and returns v, or the settled value if v is a promise and wait is set.
func (m *machine) settle(v lib.TJSValue, wait bool) (lib.TJSValue, error) {
	if tag(v) == lib.EJS_TAG_EXCEPTION {
		return v, m.thrown()
	}
	for n := int32(1); n != 0; {
		if n = lib.XJS_ExecutePendingJob(m.tls, m.rt, 0); n < 0 {
			return v, m.thrown()
		}
	}
	switch state := lib.XJS_PromiseState(m.tls, m.ctx, v); {
	case wait && state == lib.EJS_PROMISE_PENDING:
		return v, wrong("waits for a promise that nothing will settle")
	case wait && state == lib.EJS_PROMISE_FULFILLED:
		return lib.XJS_PromiseResult(m.tls, m.ctx, v), nil
	case wait && state == lib.EJS_PROMISE_REJECTED:
		return v, m.describe(lib.XJS_PromiseResult(m.tls, m.ctx, v))
	}
	return v, nil
}

// export returns what the module exports as name, or else as its default.
func (m *machine) export(module uintptr, name string) lib.TJSValue {
	namespace := lib.XJS_GetModuleNamespace(m.tls, m.ctx, module)
	v := lib.XJS_GetPropertyStr(m.tls, m.ctx, namespace, m.cString(name))
	if tag(v) != lib.EJS_TAG_EXCEPTION && lib.XJS_IsFunction(m.tls, m.ctx, v) == 0 {
		v = lib.XJS_GetPropertyStr(m.tls, m.ctx, namespace, m.cString("default"))
	}
	return v
}
