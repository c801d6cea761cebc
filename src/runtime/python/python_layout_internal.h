/* SPDX-License-Identifier: MIT */
/*
 * python_layout_internal.h - offsets in CPython's structures, by version, and the objects that are
 * read by these offsets: str, bytes and code objects.
 *
 * A layout (struct python_layout) has one of three sources. Since 3.13 the interpreter publishes it
 * (_Py_DebugOffsets). For 3.8 to 3.12 there is a table (python_table.c, made by tools/python-layout
 * from DWARF). DWARF of the program or its debug file is used for versions that the table lacks,
 * and is preferred to the table in debug builds; only DWARF describes builds before 3.13 with
 * traced references (--with-trace-refs).
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_LAYOUT_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_LAYOUT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/member_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/memory.h"

/* Most bytes that are read of a PyThreadState, of a frame and of a code object. */
#define PYTHON_THREAD_BYTES 512
#define PYTHON_FRAME_BYTES 160
#define PYTHON_CODE_BYTES 320

/*
 * X(STRUCTURE_MEMBER): offsets in bytes. A comment gives the member's name in CPython, if it is
 * another one; a name without versions is that of all other versions. ABSENT is MEMBER_ABSENT. The
 * structures are
 *   runtime      _PyRuntimeState       interpreter  PyInterpreterState
 *   thread       PyThreadState         cframe       _PyCFrame (3.11, 3.12), CFrame (3.10)
 *   frame        _PyInterpreterFrame (3.11 and later), else PyFrameObject
 *   code         PyCodeObject          gil          struct _gil_runtime_state
 *   text         PyUnicodeObject       bytes        PyBytesObject
 *   type         PyTypeObject          object       PyObject
 */
#define PYTHON_OFFSETS(X)                                                                          \
	X(runtime_interpreters) /* interpreters.head */                                            \
	X(runtime_gil)          /* ceval.gil, the struct itself; ABSENT since 3.12 */              \
	X(interpreter_id)                                                                          \
	X(interpreter_next)                                                                        \
	X(interpreter_threads) /* threads.head; tstate_head before 3.11 */                         \
	X(interpreter_gil)     /* ceval.gil, a pointer (3.12 and later) */                         \
	X(thread_previous)                                                                         \
	X(thread_next)                                                                             \
	X(thread_interpreter)                                                                      \
	X(thread_frame)   /* frame up to 3.10, cframe (3.11, 3.12), current_frame */               \
	X(thread_pthread) /* thread_id: a pthread_t */                                             \
	X(thread_native)  /* native_thread_id (3.11 and later) */                                  \
	X(thread_state)   /* state; only in free-threaded builds */                                \
	X(cframe_frame)   /* current_frame */                                                      \
	X(cframe_previous)                                                                         \
	X(frame_code)           /* f_executable; f_code up to 3.12 */                              \
	X(frame_previous)       /* f_back up to 3.10 */                                            \
	X(frame_instruction)    /* f_lasti up to 3.10, prev_instr (3.11, 3.12), instr_ptr */       \
	X(frame_owner)          /* one byte; ABSENT before 3.11 */                                 \
	X(frame_bytecode_index) /* tlbc_index: free-threaded 3.14; else ABSENT */                  \
	X(code_filename)                                                                           \
	X(code_name)                                                                               \
	X(code_qualified_name) /* 3.11 and later */                                                \
	X(code_line_table)     /* co_linetable; co_lnotab up to 3.9 */                             \
	X(code_first_line)                                                                         \
	X(code_instructions) /* co_code_adaptive, the array itself; ABSENT before 3.11 */          \
	X(code_bytecodes)    /* co_tlbc: free-threaded 3.14; else ABSENT */                        \
	X(gil_holder)        /* last_holder */                                                     \
	X(gil_locked)        /* locked, an int */                                                  \
	X(gil_enabled)       /* enabled, an int; only in free-threaded builds */                   \
	X(text_length)                                                                             \
	X(text_state)                                                                              \
	X(text_ascii)   /* where characters begin if all are ASCII */                              \
	X(text_compact) /* where characters begin if not all are ASCII */                          \
	X(bytes_size)   /* ob_size */                                                              \
	X(bytes_data)   /* ob_sval */                                                              \
	X(object_type)  /* ob_type */                                                              \
	X(type_name)    /* tp_name, a char * */

struct python_layout {
	/* PY_VERSION_HEX: 0x030b07f0 is 3.11.7; 0x03090000 is a 3.9 of unknown patch level. */
	uint32_t version;
	bool free_threaded; /* built without a global lock */
	bool debug;         /* built --with-pydebug; false also if that is not known */
	enum python_layout_source {
		PYTHON_BY_ITSELF, /* the interpreter publishes it in _Py_DebugOffsets */
		PYTHON_BY_TABLE,
		PYTHON_BY_DWARF,
	} source;
	/* Bytes of each structure up to the end of the last member that is read, at most the
	 * constant PYTHON_…_BYTES of that structure. */
	uint32_t thread_size, frame_size, code_size;
	/* Size of the lock in bytes. A thread waits for the lock if it waits for a futex in these
	 * bytes. */
	uint32_t gil_size;
#define X(name) uint32_t name;
	PYTHON_OFFSETS(X)
#undef X
};

/* PY_VERSION_HEX of major.minor with all other digits 0: no release of major.minor has less. */
#define PYTHON_VERSION(major, minor) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16)
static inline bool
python_since(const struct python_layout *layout, unsigned major, unsigned minor)
{
	return layout->version >= PYTHON_VERSION(major, minor);
}

/* --- python_text.c: str and bytes objects in the target's memory ------------------------- */

/* Most characters that are read of one str object, even if the caller allows more. */
#define PYTHON_TEXT_MOST 65536

/*
 * Appends the str object at `address` as UTF-8. Characters that UTF-8 cannot represent are escaped
 * as in Python: a surrogate (a byte of a file name outside of its encoding) as \udcff, a number
 * above 0x10ffff as \U00110000, and NUL, which would end the text, as \x00. Control characters are
 * kept. If the str is longer than `most` characters, the first `most` are appended, and "…".
 * Returns false, and leaves `to` unchanged, when the object is not a str or not readable.
 */
bool python_text_read(const struct python_layout *layout, const struct memory *memory,
		      uint64_t address, size_t most, struct strbuf *to);

/* Returns a copy of the content of the bytes object at `address`, and stores its size. The caller
 * frees the copy, which exists even if the object is empty. Returns NULL when the object has more
 * than `most` bytes, or is not readable. */
uint8_t *python_bytes_read(const struct python_layout *layout, const struct memory *memory,
			   uint64_t address, size_t most, size_t *size);

/* Returns the 8 bytes at address + offset; 0: not readable, or `offset` is MEMBER_ABSENT. */
uint64_t python_pointer(const struct memory *memory, uint64_t address, uint32_t offset);

/* --- python_code.c: code objects: function, file, and lines of instructions -------------- */

/*
 * The identity of a code object at the time of a capture. A code object does not change while it
 * lives, but another one may be allocated at its address later: therefore a cached code object is
 * used only for an equal identity, and the identity is compared with memory after anything of the
 * object was read.
 */
struct python_code_id {
	uint64_t address;
	uint64_t filename, name, qualified_name, line_table; /* addresses of objects; 0: absent */
	uint32_t first_line;
};

/*
 * Returns the identity of the code object at `address`. `bytes`: its first layout->code_size bytes.
 */
struct python_code_id python_code_identify(const struct python_layout *layout, uint64_t address,
					   const uint8_t *bytes);

struct python_codes; /* a cache of code objects, by their identities */

/* Makes an empty cache, which the caller frees. `layout` and `memory` are borrowed. `memory` must
 * not read through a cache, because it must show changes. */
struct python_codes *python_codes_create(const struct python_layout *layout,
					 const struct memory *memory);
void python_codes_free(struct python_codes *codes);

struct python_code {
	const char *function; /* the qualified name if there is one: "C.method", "f.<locals>.g" */
	const char *file;     /* path as the interpreter stores it, in UTF-8, surrogates escaped */
	uint32_t first_line;
};

/* Returns the code object with this identity, which is read at the first call and then cached. The
 * result is valid until python_codes_free. Returns NULL when the object is not cached, and the
 * memory at its address is not readable, or does not have that code object any more. */
const struct python_code *python_codes_find(struct python_codes *codes,
					    const struct python_code_id *id);

/*
 * Returns the line of an instruction; 0: the code has no line there, or is not readable.
 * `instruction` is the frame's value at frame_instruction: an address, or before 3.11 an index.
 * `bytecode_index` is the frame's value at frame_bytecode_index, or 0 if that is absent. Results
 * are cached.
 */
uint32_t python_codes_line(struct python_codes *codes, const struct python_code_id *id,
			   uint64_t instruction, uint32_t bytecode_index);

/* python_lines.c: return the line of the instruction at byte `offset` of the bytecode; 0: no line.
 * `table`: the code object's line table, which may be damaged. */
uint32_t python_line_lnotab(const uint8_t *table, size_t size, uint32_t first_line,
			    uint32_t offset); /* for versions up to 3.9 */
uint32_t python_line_ranges(const uint8_t *table, size_t size, uint32_t first_line,
			    uint32_t offset); /* for 3.10 */
uint32_t python_line_locations(const uint8_t *table, size_t size, uint32_t first_line,
			       uint32_t offset); /* for 3.11 and later */

#endif
