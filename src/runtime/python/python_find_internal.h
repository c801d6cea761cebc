/* SPDX-License-Identifier: MIT */
/*
 * python_find_internal.h - finds the CPythons of a process: modules, versions, and the sources of
 * layouts, each testable alone. python_find.c chooses among them.
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

/* Parts of the function that executes bytecode: cold parts and clones are separate ranges. */
#define PYTHON_EVAL_MOST 8

/* One CPython in the process. */
struct python_place {
	uint32_t module;
	uint64_t runtime; /* address of _PyRuntime in the target */
	struct python_layout layout;
	/*
	 * Ranges of _PyEval_EvalFrameDefault: first that of its symbol, then its parts, with or
	 * without symbols. None: not known, as in a program without symbols.
	 */
	struct address_range eval[PYTHON_EVAL_MOST];
	size_t eval_count;
};

extern const struct finder_kind python_finder; /* its place: a struct python_place */

/* --- python_module.c: is there a CPython in this file, where, and of which version? ------ */

/* Different version texts that are kept: other software has versions, too. */
#define PYTHON_MODULE_TEXTS 8

/*
 * Addresses are the image's own. _PyRuntime is found by its symbol (.dynsym, else .symtab), else by
 * the section .PyRuntime (3.10 and later). Py_Version is a number in read-only data of 3.11 and
 * later. Older versions, and files without symbols, have the version as text among the constants:
 * "3.9.18" at the end of a string.
 */
struct python_module {
	uint64_t runtime; /* 0: the module has no CPython */
	uint64_t version; /* address of Py_Version; 0: absent */
	bool debug;       /* built --with-pydebug */
	bool traced;      /* built --with-trace-refs: each object has two more pointers */
	struct address_range eval[PYTHON_EVAL_MOST];
	size_t eval_count;
	uint32_t named;                     /* version in the file's name; 0: none */
	uint32_t text[PYTHON_MODULE_TEXTS]; /* versions among the constants */
	size_t text_count;
};

struct python_module_search {
	const struct module *module;
	enum python_module_stage {
		PYTHON_MODULE_RUNTIME, /* one symbol: most modules do not have it */
		PYTHON_MODULE_SECTION,
		PYTHON_MODULE_SYMBOLS, /* the others */
		PYTHON_MODULE_TEXT,
		PYTHON_MODULE_DONE,
	} stage;
	struct symbol_search symbols;
	size_t segment; /* of PYTHON_MODULE_TEXT: the segment that is searched, */
	uint64_t at;    /* and the position in it */
	struct python_module found;
};

/* The module must have an image. It is borrowed. */
void python_module_search_init(struct python_module_search *search, const struct module *module);
/* Continues until *budget bytes are read, and subtracts them. True: search->found is final. */
bool python_module_search_step(struct python_module_search *search, uint64_t *budget);

/* The version of a module without Py_Version; 0: not known. */
uint32_t python_module_version(const struct python_module *module);

/* --- python_eval.c: parts of the bytecode loop without symbols --------------------------- */

/*
 * Compilers move seldom executed code elsewhere, and GCC 16 with profiles moves the loop itself:
 * _PyEval_EvalFrameDefault of Debian's 3.14.10 has 1,184 bytes, and the 84,423 bytes of the loop
 * have no symbol. The parts branch into the middle of each other, which functions do not.
 *
 * The first `count` ranges (addresses of the image) are known; others are added up to `most`.
 * Returns the new count. Takes some milliseconds.
 */
size_t python_eval_parts(const struct image *image, struct address_range *range, size_t count,
			 size_t most);

/* python_arch_*.c: instructions begin at multiples of this. */
extern const size_t python_branch_step;
/* Is there a relative branch (no call) at `code`? *distance is relative to its first byte. */
bool python_branch_at(const uint8_t *code, size_t size, int64_t *distance);

/* --- versions (python_layout.c) ---------------------------------------------------------- */

/* The minor number of a version: 11 of 3.11.7. */
static inline unsigned
python_minor(uint32_t version)
{
	return version >> 16 & 0xff;
}

/* The oldest version that is supported, and the newest that was tested. */
#define PYTHON_MINOR_OLDEST 8
#define PYTHON_MINOR_TRIED 14

/* "3.11.7", "3.14.0rc2"; "3.9" if the patch level is not known (the number ends in zeros then). */
#define PYTHON_VERSION_TEXT 32
void python_version_text(uint32_t version, char text[PYTHON_VERSION_TEXT]);
/* Parses a version at the beginning of `size` bytes; *length is its length. False: none of 3. */
bool python_version_parse(const char *text, size_t size, uint32_t *version, size_t *length);

/* --- sources of layouts ------------------------------------------------------------------ */

#define PYTHON_COOKIE "xdebugpy"
/* Bytes of _PyRuntime that python_offsets_parse may need; older versions need fewer. */
#define PYTHON_OFFSETS_SIZE 1024

/* python_debug_offsets.c. Does _PyRuntime begin with the cookie? *version is unchecked. */
bool python_offsets_version(const void *bytes, size_t size, uint64_t *version);
/* False: *why is a constant text. */
bool python_offsets_parse(const void *bytes, size_t size, struct python_layout *layout,
			  const char **why);

/*
 * python_table_*.c: the next row after `after` (NULL: the first) of this architecture with the
 * version's first two numbers (0x030b0000). NULL: no more.
 */
const struct python_layout *python_table_next(uint32_t version, const struct python_layout *after);

extern const struct python_layout python_table[];
extern const size_t python_table_count;
/* Bytes from the member gil_locked to the end of the lock, with two conditions and two mutexes. */
extern const uint32_t python_table_gil_rest;

/* python_dwarf.c. Needs the first two numbers of the version. False: members are missing. */
bool python_dwarf_read(Dwarf *dwarf, uint32_t version, struct python_layout *layout);

/* python_fit.c. `runtime`: address of _PyRuntime. NOT_YET: no interpreter has a thread. */
enum finder_fit python_layout_check(const struct python_layout *layout, uint64_t runtime,
				    const struct memory *memory);

/* python_layout.c. Sets all members to PYTHON_ABSENT, and the rest to zero. */
void python_layout_clear(struct python_layout *layout);
/* Sets frame_size and code_size, which follow from the other members. */
void python_layout_finish(struct python_layout *layout);
/* Are all members that the version must have present, and all offsets plausible? */
bool python_layout_is_sane(const struct python_layout *layout);
/* Name ("runtime_interpreters") and value of the member at `index`; NULL: no more. */
const char *python_layout_member(const struct python_layout *layout, size_t index, uint32_t *value);

#endif
