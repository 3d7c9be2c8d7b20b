/* What CPython's own headers say of the places in PythonLayout311.def; in C,
 * since those headers are. */
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_runtime.h>

#include <stddef.h>
#include <stdint.h>

_Static_assert(PY_VERSION_HEX >> 16 == 0x030b, "headers of another version");
_Static_assert(offsetof(PyObject, ob_type) == 8 &&
                   offsetof(PyVarObject, ob_size) == 16 &&
                   offsetof(PyBytesObject, ob_sval) == 32 &&
                   offsetof(PyASCIIObject, length) == 16 &&
                   offsetof(PyASCIIObject, state) == 32 &&
                   sizeof(PyASCIIObject) == 48 &&
                   sizeof(PyCompactUnicodeObject) == 72 &&
                   offsetof(Py_tss_t, _is_initialized) == 0 &&
                   offsetof(Py_tss_t, _key) == 4,
               "PythonStack.cpp counts on these");

const uint32_t PythonLayoutOfHeaders[] = {
    offsetof(_PyRuntimeState, gilstate.tstate_current),
    offsetof(_PyRuntimeState, gilstate.autoTSSkey),
    offsetof(PyThreadState, cframe),
    offsetof(PyThreadState, thread_id),
    offsetof(_PyCFrame, current_frame),
    offsetof(_PyInterpreterFrame, f_code),
    offsetof(_PyInterpreterFrame, previous),
    offsetof(_PyInterpreterFrame, prev_instr),
    offsetof(_PyInterpreterFrame, is_entry),
    offsetof(PyCodeObject, co_firstlineno),
    offsetof(PyCodeObject, co_filename),
    offsetof(PyCodeObject, co_qualname),
    offsetof(PyCodeObject, co_linetable),
    offsetof(PyCodeObject, co_code_adaptive),
};
const uint32_t PythonLayoutPlaces =
    sizeof(PythonLayoutOfHeaders) / sizeof(PythonLayoutOfHeaders[0]);

/* The state of a str: interned:2 kind:3 compact:1 ascii:1. */
uint32_t pythonStateOf(unsigned Kind, unsigned Compact, unsigned Ascii) {
  PyASCIIObject Text = {0};
  Text.state.kind = Kind;
  Text.state.compact = Compact;
  Text.state.ascii = Ascii;
  uint32_t State;
  memcpy(&State, &Text.state, sizeof(State));
  return State;
}
