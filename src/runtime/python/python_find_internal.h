/* SPDX-License-Identifier: MIT */
/*
 * python_find_internal.h - finds the CPythons of a process: search of modules, versions, and the
 * sources of layouts, each testable alone. python_find.c chooses among the sources.
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_FIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_FIND_INTERNAL_H

#include <elfutils/libdw.h>

#include "runtime/finder_internal.h"
#include "runtime/python/python_layout_internal.h"
#include "wallsample/elf/image.h"
#include "wallsample/elf/symbol_search.h"
#include "wallsample/process/maps.h"
#include "wallsample/process/module.h"

/*
 * Most parts of the function that executes bytecode: its cold parts and clones are separate ranges.
 */
#define PYTHON_EVAL_MOST 8

/* One CPython in the process. */
struct python_place {
	uint32_t module;
	uint64_t runtime; /* address of _PyRuntime in the target */
	struct python_layout layout;
	/*
	 * Address ranges of _PyEval_EvalFrameDefault in the target: first the range of its symbol,
	 * then its other parts, which may have no symbol. A program without symbols has no ranges
	 * here.
	 */
	struct address_range eval[PYTHON_EVAL_MOST];
	size_t eval_count;
};

extern const struct finder_kind python_finder; /* finder_place() is a struct python_place */

/* --- python_module.c: is there a CPython in this file, where, and of which version? ------ */

/* Most different version texts that are kept: the constants of a program also contain versions of
 * other software. */
#define PYTHON_MODULE_TEXTS 8

/*
 * What a file contains of CPython. Addresses are those in the image. _PyRuntime is found by its
 * symbol (.dynsym, else .symtab), else by the section .PyRuntime (3.10 and later). Py_Version is a
 * number in read-only data of 3.11 and later. Older versions, and files without symbols, have the
 * version as text among the constants: "3.9.18" at the end of a string.
 */
struct python_module {
	uint64_t runtime; /* address of _PyRuntime; 0: the module has no CPython */
	uint64_t version; /* address of Py_Version; 0: absent */
	bool debug;       /* built --with-pydebug */
	bool traced;      /* built --with-trace-refs: each object has two more pointers */
	struct address_range eval[PYTHON_EVAL_MOST]; /* as in struct python_place */
	size_t eval_count;
	uint32_t named;                     /* version in the file's name; 0: none */
	uint32_t text[PYTHON_MODULE_TEXTS]; /* versions among the constants */
	size_t text_count;
};

struct python_module_search {
	const struct module *module;
	enum python_module_stage {
		/* searches for the symbol _PyRuntime, which most modules do not have */
		PYTHON_MODULE_RUNTIME,
		PYTHON_MODULE_SYMBOLS, /* searches for the other symbols */
		PYTHON_MODULE_TEXT,    /* searches the constants for version texts */
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

/* Returns the version of a module without Py_Version, by its name and constants; 0: not known. */
uint32_t python_module_version(const struct python_module *module);

/* --- python_eval.c: parts of the bytecode loop without symbols --------------------------- */

/*
 * Finds all parts of a function. Compilers move seldom executed code elsewhere, and GCC 16 with
 * profiles moves the bytecode loop itself: _PyEval_EvalFrameDefault of Debian's 3.14.10 has 1,184
 * bytes, and the 84,423 bytes of the loop have no symbol. The parts branch into the middle of each
 * other, which functions do not.
 *
 * The first `count` ranges (addresses in the image) are known. Appends other parts, up to `most`
 * ranges in all, and returns the new count. Takes some milliseconds.
 */
size_t python_eval_parts(const struct image *image, struct address_range *range, size_t count,
			 size_t most);

/* python_arch_*.c: instructions begin at multiples of this number of bytes. */
extern const size_t python_branch_step;
/* Returns true when the bytes at `code` are a relative branch that is not a call, and stores the
 * distance of its target from the first byte. */
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

/* Writes "3.11.7" or "3.14.0rc2"; "3.9" if the lower half of the number is 0, which means that the
 * patch level is not known. */
#define PYTHON_VERSION_TEXT 32
void python_version_text(uint32_t version, char text[PYTHON_VERSION_TEXT]);
/* Parses a version at the beginning of `size` bytes, and stores the length of its text. Returns
 * false when the bytes do not begin with a version of CPython 3. */
bool python_version_parse(const char *text, size_t size, uint32_t *version, size_t *length);

/* --- sources of layouts ------------------------------------------------------------------ */

#define PYTHON_COOKIE "xdebugpy"
/* Most bytes of _PyRuntime that python_offsets_parse needs; for older versions fewer suffice. */
#define PYTHON_OFFSETS_SIZE 1024

/* python_debug_offsets.c: returns true when _PyRuntime begins with the cookie of _Py_DebugOffsets,
 * and stores the version behind it, unchecked. */
bool python_offsets_version(const void *bytes, size_t size, uint64_t *version);
/* Reads the layout that the interpreter publishes. Returns false, with *why a constant text, when
 * it is not plausible. */
bool python_offsets_parse(const void *bytes, size_t size, struct python_layout *layout,
			  const char **why);

/* python_table.c: stores the layout of the version, by its first two numbers. Returns false when
 * the table does not have the version. */
bool python_table_read(uint32_t version, struct python_layout *layout);

/* python_arch_*.c: number of bytes from the member gil_locked to the end of the lock. */
extern const uint32_t python_gil_rest;

/* python_dwarf.c: reads the layout from DWARF, for the first two numbers of the version. Returns
 * false when DWARF lacks members. */
bool python_dwarf_read(Dwarf *dwarf, uint32_t version, struct python_layout *layout);

/* python_fit.c: checks the layout against memory. `runtime`: address of _PyRuntime.
 * FINDER_FIT_NOT_YET: no interpreter has a thread. */
enum finder_fit python_layout_check(const struct python_layout *layout, uint64_t runtime,
				    const struct memory *memory);

/* python_layout.c: sets all offsets to MEMBER_ABSENT, and the other members to zero. */
void python_layout_clear(struct python_layout *layout);
/* Sets thread_size, frame_size and code_size from the offsets. In a build with a global lock it
 * first sets offsets that only free-threaded builds have to MEMBER_ABSENT. */
void python_layout_finish(struct python_layout *layout);
/* Returns true when the layout has all offsets that its version has, and offsets and sizes are
 * plausible. */
bool python_layout_is_sane(const struct python_layout *layout);
/* Returns the name of offset number `index`, such as "runtime_interpreters", and stores its value;
 * NULL: there are fewer offsets. */
const char *python_layout_member(const struct python_layout *layout, size_t index, uint32_t *value);

#endif
