/* SPDX-License-Identifier: MIT */
/*
 * python_layout_internal.h - where CPython keeps what we read: offsets in its structures, by
 * version.
 *
 * Three sources, the best first: what the interpreter itself says (_Py_DebugOffsets, 3.13 and
 * later), the table of released versions (python_table_*.c, made by tools/python-layout from
 * DWARF), and DWARF when the program or its debug file has it: that alone knows debug builds
 * before 3.13 and what the interpreter does not say.
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_LAYOUT_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_LAYOUT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A member that the version does not have. */
#define PYTHON_ABSENT UINT32_MAX

/*
 * X(name): offsets in bytes, of
 *   runtime      _PyRuntimeState       interpreter  PyInterpreterState
 *   thread       PyThreadState         cframe       _PyCFrame (3.11, 3.12), CFrame (3.10)
 *   frame        _PyInterpreterFrame (3.11 and later), else PyFrameObject
 *   code         PyCodeObject          gil          struct _gil_runtime_state
 *   text         PyUnicodeObject       bytes        PyBytesObject
 *   type         PyTypeObject          object       PyObject
 */
#define PYTHON_OFFSETS(X)                                                      \
	X(runtime_interpreters)  /* interpreters.head */                       \
	X(runtime_gil)           /* ceval.gil, in place; ABSENT since 3.12 */  \
	X(interpreter_id)                                                      \
	X(interpreter_next)                                                    \
	X(interpreter_threads)   /* threads.head; tstate_head before 3.11 */   \
	X(interpreter_gil)       /* ceval.gil, a pointer (3.12 and later) */   \
	X(thread_previous)                                                     \
	X(thread_next)                                                         \
	X(thread_interpreter)                                                  \
	X(thread_frame)          /* frame, cframe (3.11, 3.12) or current_frame */ \
	X(thread_pthread)        /* thread_id: a pthread_t */                  \
	X(thread_native)         /* native_thread_id (3.11 and later) */       \
	X(thread_state)          /* of free-threaded builds: attached or not */ \
	X(cframe_frame)          /* current_frame */                           \
	X(cframe_previous)                                                     \
	X(frame_code)            /* f_code or f_executable */                  \
	X(frame_previous)        /* previous or f_back */                      \
	X(frame_instruction)     /* prev_instr, instr_ptr; f_lasti */          \
	X(frame_owner)           /* one byte; ABSENT before 3.11 */            \
	X(frame_bytecode_index)  /* tlbc_index: free-threaded 3.14; else ABSENT */ \
	X(code_filename)                                                       \
	X(code_name)                                                           \
	X(code_qualified_name)   /* 3.11 and later */                          \
	X(code_line_table)       /* co_lnotab, co_linetable */                 \
	X(code_first_line)                                                     \
	X(code_instructions)     /* co_code_adaptive, in place; ABSENT before 3.11 */ \
	X(code_bytecodes)        /* co_tlbc: free-threaded 3.14; else ABSENT */ \
	X(gil_holder)            /* last_holder */                             \
	X(gil_locked)            /* an int */                                  \
	X(gil_enabled)           /* an int: free-threaded builds; else ABSENT */ \
	X(text_length)                                                         \
	X(text_state)                                                          \
	X(text_ascii)            /* where characters begin if all are ASCII */ \
	X(text_compact)          /* … if they are not */                       \
	X(bytes_size)            /* ob_size */                                 \
	X(bytes_data)            /* ob_sval */                                 \
	X(object_type)           /* ob_type */                                 \
	X(type_name)             /* tp_name, a char * */

struct python_layout {
	uint32_t version;        /* PY_VERSION_HEX: 0x030b07f0 is 3.11.7; 0x03090000 is of a 3.9
				  * that does not say which */
	bool free_threaded;      /* built without a global lock */
	bool debug;              /* --with-pydebug, if known */
	enum python_layout_source {
		PYTHON_BY_ITSELF,  /* _Py_DebugOffsets */
		PYTHON_BY_TABLE,
		PYTHON_BY_DWARF,
	} source;
	uint32_t frame_size;     /* bytes of a frame up to the last member named above, */
	uint32_t code_size;      /* and of a code object */
	uint32_t gil_size;       /* so much of memory from the lock's beginning on is the lock: a
				  * futex in it is waited for by who wants the lock */
#define X(name) uint32_t name;
	PYTHON_OFFSETS(X)
#undef X
};

/* Version 3.11 of "3.11.7": for comparisons. */
#define PYTHON_VERSION(major, minor) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16)
static inline bool
python_since(const struct python_layout *layout, unsigned major, unsigned minor)
{
	return layout->version >= PYTHON_VERSION(major, minor);
}

#endif
