/* SPDX-License-Identifier: MIT */
/* python_find_internal.h - finds the CPythons of a process: searches modules for one, and finds out
 * its version and its layout (the offsets in its structures). Each source of layouts has a file and
 * is testable alone; python_find.c chooses among them. */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_FIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_FIND_INTERNAL_H

#include <elfutils/libdw.h>

#include "runtime/finder_internal.h"
#include "runtime/python/python_layout_internal.h"
#include "wallsample/elf/image.h"
#include "wallsample/elf/symbol_search.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/module.h"

/* Most address ranges that are kept of _PyEval_EvalFrameDefault, the function that executes
 * bytecode (the bytecode loop): compilers move seldom executed parts and clones of it elsewhere. */
#define PYTHON_EVAL_MOST 8

/* One CPython in the process. */
struct python_place {
	uint32_t module;
	uint64_t runtime; /* address of _PyRuntime in the target */
	struct python_layout layout;
	/* Address ranges of _PyEval_EvalFrameDefault in the target: those of its symbols and, if it
	 * has only one symbol, of the parts that python_eval_parts finds. A program without this
	 * symbol has no ranges here. */
	struct address_range eval[PYTHON_EVAL_MOST];
	size_t eval_count;
};

extern const struct finder_kind python_finder; /* finder_place returns a struct python_place */

#define PYTHON_VERSION_TEXT 32 /* size of the buffer for the text of a version */

/* --- python_module.c: is there a CPython in this file, where, and of which version? ------ */

/* Most different version numbers that are kept of those found among the constants of a file. Some
 * may be versions of other software. */
#define PYTHON_MODULE_TEXTS 8

/*
 * What was found of CPython in a file. Addresses are those in the ELF file, without the bias.
 * _PyRuntime is found by its symbol (.dynsym, else .symtab), else by the section .PyRuntime (3.10
 * and later). Py_Version is a constant of 3.11 and later. In older versions, and in files without
 * symbols, the version is searched among the constants, as a string that ends with it ("3.9.18").
 *
 * Versions are numbers as in struct python_layout.
 */
struct python_module {
	uint64_t runtime; /* address of _PyRuntime; 0: the module has no CPython from 3.7 on */
	/*
	 * without _PyRuntime: "PyPy", or "CPython" if its version is below 3.7; NULL: the module
	 * has no interpreter
	 */
	const char *unread;
	char unread_version[PYTHON_VERSION_TEXT]; /* its version in the file's name, or "" */
	uint64_t version;                         /* address of Py_Version; 0: absent */
	bool debug;                               /* built --with-pydebug */
	bool traced; /* built --with-trace-refs: each object has two more pointers */
	/* as in struct python_place, but without the bias */
	struct address_range eval[PYTHON_EVAL_MOST];
	size_t eval_count;
	uint32_t named;                     /* version in the file's name; 0: none */
	uint32_t text[PYTHON_MODULE_TEXTS]; /* versions among the constants */
	size_t text_count;
};

/* The state of the search of one module. */
struct python_module_search {
	const struct module *module;
	enum python_module_stage {
		/* searches for the symbol _PyRuntime, which most modules do not have, and for those
		 * of interpreters that are not read */
		PYTHON_MODULE_RUNTIME,
		/* searches for Py_Version, the bytecode loop, and functions of debug builds */
		PYTHON_MODULE_SYMBOLS,
		PYTHON_MODULE_TEXT, /* searches the constants for versions */
		PYTHON_MODULE_DONE,
	} stage;
	struct symbol_search symbols;
	size_t segment; /* PYTHON_MODULE_TEXT: index of the segment that is searched */
	uint64_t at;    /* PYTHON_MODULE_TEXT: offset in that segment */
	struct python_module found;
};

/*
 * Implement search_begin and search_step of struct finder_kind; `search` is a struct
 * python_module_search, whose member `found` is the result. The module is borrowed and must have an
 * image.
 */
bool python_module_search_begin(void *search, const struct module *module);
bool python_module_search_step(void *search, uint64_t *budget);

/* Returns the version of a module without Py_Version: the one among its constants, if exactly one
 * agrees with the file's name (any does if the name has no version); otherwise the version in the
 * name, with patch level 0; 0: not known. */
uint32_t python_module_version(const struct python_module *module);

/* --- python_eval.c: parts of the bytecode loop without symbols --------------------------- */

/*
 * Finds those parts of a function that have no symbols. Compilers move seldom executed code
 * elsewhere, and GCC 16 with profiles moves the bytecode loop itself: _PyEval_EvalFrameDefault of
 * Debian's 3.14.10 has 1,184 bytes, and the 84,423 bytes of the loop have no symbol. Code is taken
 * for a part if it and the known parts branch into the middle of each other, which two functions do
 * not.
 *
 * The first `count` ranges (addresses in the ELF file) are known parts. Appends the parts that are
 * found, up to `most` ranges in all, and returns the new count. Takes some milliseconds.
 */
size_t python_eval_parts(const struct image *image, struct address_range *range, size_t count,
			 size_t most);

/* python_arch_*.c: instructions begin at multiples of this number of bytes. */
extern const size_t python_branch_step;
/* Returns true when the bytes at `code` look like a relative branch, not a call, that can reach
 * other parts of a function. Stores the distance of its target from the first byte. */
bool python_branch_at(const uint8_t *code, size_t size, int64_t *distance);

/* --- versions (python_layout.c) ---------------------------------------------------------- */

/* Returns the minor number of a version: the 11 of 3.11.7. */
static inline unsigned
python_minor(uint32_t version)
{
	return version >> 16 & 0xff;
}

/* Minor numbers of the oldest version that is supported, and of the newest that was tested. */
#define PYTHON_MINOR_OLDEST 8
#define PYTHON_MINOR_TRIED 14

/* Writes "3.11.7" or "3.14.0rc2"; only "3.9" if the patch level is not known (the lower half of
 * `version` is 0). */
void python_version_text(uint32_t version, char text[PYTHON_VERSION_TEXT]);
/* Parses a version at the beginning of the `size` bytes at `text`. Stores it, with the patch level
 * 0 if the text has none, and the length of its text. Returns false when the bytes do not begin
 * with a version of CPython 3. */
bool python_version_parse(const char *text, size_t size, uint32_t *version, size_t *length);

/* --- sources of layouts ------------------------------------------------------------------ */

/* The first bytes of _Py_DebugOffsets, with which _PyRuntime begins since 3.13. */
#define PYTHON_COOKIE "xdebugpy"
/* Most bytes of _PyRuntime that python_offsets_parse needs; for older versions fewer suffice. */
#define PYTHON_OFFSETS_SIZE 1024

/* python_debug_offsets.c: returns true when the first `size` bytes of _PyRuntime begin with
 * PYTHON_COOKIE, and stores the version that follows, unchecked. */
bool python_offsets_version(const void *bytes, size_t size, uint64_t *version);
/* Reads the layout that the interpreter publishes in the first `size` bytes of _PyRuntime. Returns
 * false, and sets *why to a constant text, when it is not plausible. */
bool python_offsets_parse(const void *bytes, size_t size, struct python_layout *layout,
			  const char **why);

/* python_table.c: stores the layout of the minor version (3.11 for 3.11.7). Returns false when the
 * table does not have it. */
bool python_table_read(uint32_t version, struct python_layout *layout);

/* python_arch_*.c: bytes of struct _gil_runtime_state (the global lock) from its member `locked` to
 * its end. */
extern const uint32_t python_gil_rest;

/* python_dwarf.c: reads from DWARF the members of the layout that this version has. Returns false
 * when DWARF lacks one of them, or an offset is not plausible. */
bool python_dwarf_read(Dwarf *dwarf, uint32_t version, struct python_layout *layout);

/* python_fit.c: checks the layout against memory. `runtime`: address of _PyRuntime.
 * FINDER_FIT_NOT_YET: CPython is not initialised (no interpreter has a thread, there is no lock, or
 * _PyRuntime is not readable). */
enum finder_fit python_layout_check(const struct python_layout *layout, uint64_t runtime,
				    const struct memory *memory);

/* python_layout.c: sets all offsets to MEMBER_ABSENT, and the other members to zero. */
void python_layout_clear(struct python_layout *layout);
/* Sets thread_size, frame_size and code_size from the offsets. In a build with a global lock,
 * MEMBER_ABSENT is first stored in the offsets that exist only in free-threaded builds. */
void python_layout_finish(struct python_layout *layout);
/* Returns true when the layout has all offsets that its version has, and offsets and sizes are
 * plausible. */
bool python_layout_is_sane(const struct python_layout *layout);
/* Returns the name of offset number `index`, such as "runtime_interpreters", and stores its value;
 * gil_size counts as the last one. NULL: there are fewer offsets. */
const char *python_layout_member(const struct python_layout *layout, size_t index, uint32_t *value);

#endif
