/* SPDX-License-Identifier: MIT */
/*
 * go_find_internal.h - finds the Go runtimes of a process: the layouts of structures, and the steps
 * that go_find.c combines (search of a file, checks and scan of memory), each testable alone.
 */
#ifndef WALLSAMPLE_RUNTIME_GO_GO_FIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_GO_GO_FIND_INTERNAL_H

#include <elfutils/libdw.h>

#include "runtime/finder_internal.h"
#include "runtime/member_internal.h"
#include "wallsample/elf/symbol_search.h"
#include "wallsample/process/module.h"

/* --- go_layout.c: offsets in Go's structures, by version --------------------- */

/*
 * Layouts of released versions are in a table, which tools/go-layout makes from DWARF and which
 * holds for all 64-bit architectures. The layout of any other version is read from the program's
 * DWARF.
 */

/* Offsets in bytes in runtime.g, a goroutine, and runtime.m, a thread: X(name, structure, path). */
#define GO_OFFSETS(X)                                                                              \
	X(g_low, G, "stack.lo")                                                                    \
	X(g_high, G, "stack.hi")                                                                   \
	X(g_m, G, "m")         /* address of the goroutine's thread; 0: none */                    \
	X(g_sp, G, "sched.sp") /* registers with which the goroutine continues */                  \
	X(g_pc, G, "sched.pc")                                                                     \
	X(g_fp, G, "sched.bp")                                                                     \
	X(g_call_sp, G, "syscallsp") /* registers of the caller of the kernel or C; 0: none */     \
	X(g_call_pc, G, "syscallpc")                                                               \
	X(g_call_fp, G, "syscallbp")   /* 1.23 and later */                                        \
	X(g_status, G, "atomicstatus") /* 32 bits */                                               \
	X(g_id, G, "goid")                                                                         \
	X(g_since, G, "waitsince")    /* nanotime, set by the garbage collector; 0: not set */     \
	X(g_reason, G, "waitreason")  /* a byte */                                                 \
	X(g_runs, G, "trackingSeq")   /* a byte: number of times it has stopped running */         \
	X(g_creator, G, "parentGoid") /* 1.21 and later */                                         \
	X(g_created, G, "gopc")                                                                    \
	X(g_entry, G, "startpc")                                                                   \
	X(m_g0, M, "g0") /* goroutine of the scheduler, on the thread's own stack */               \
	X(m_tid, M, "procid")                                                                      \
	X(m_current, M, "curg")                                                                    \
	X(m_next, M, "alllink")                                                                    \
	X(m_vdso_sp, M, "vdsoSP") /* registers of the caller of the vdso; 0: not in the vdso */    \
	X(m_vdso_pc, M, "vdsoPC")

/* Most bytes that are read of each structure. Layouts with members beyond them are refused. */
#define GO_G_MOST 1024
#define GO_M_MOST 4096

struct go_layout {
	uint32_t minor; /* the 26 of version 1.26.8 */
	uint32_t patch; /* first patch release that has this layout; used in the table only */
	/* number of bytes of runtime.g, and of runtime.m, up to the end of the last member in
	 * GO_OFFSETS */
	uint32_t g_size, m_size;
#define X(name, structure, path) uint32_t name;
	GO_OFFSETS(X)
#undef X
};

/* Minor numbers of the oldest and the newest version in the table. */
#define GO_MINOR_OLDEST 19
#define GO_MINOR_NEWEST 27

/* Returns the layout of release 1.MINOR.PATCH; NULL: the table does not have it. */
const struct go_layout *go_layout_of(uint32_t minor, uint32_t patch);

/* Reads the layout from the program's DWARF. Returns false when members are missing or
 * implausible. */
bool go_layout_read(Dwarf *dwarf, uint32_t minor, struct go_layout *layout);

/*
 * Returns the name, such as "g_low", of member number `index` of GO_OFFSETS, and stores its offset;
 * NULL: there are no more members.
 */
const char *go_layout_member(const struct go_layout *layout, size_t index, uint32_t *value);

/* Sets g_size and m_size from the offsets of the members. Returns false when a member is missing or
 * its offset implausible. */
bool go_layout_finish(struct go_layout *layout);

/* --- go_find.c --------------------------------------------------------------------------- */

/* Most candidates for the variable runtime.allm: without symbols several words may look like it. */
#define GO_HEADS_MOST 8
/* Size of the buffer for a version; longer texts are truncated. */
#define GO_VERSION_TEXT 48

/* The addresses in the target of one Go runtime. */
struct go_home {
	uint32_t module;
	uint64_t bias;
	uint64_t all; /* address of runtime.allgs, a slice of all goroutines; 0: not found */
	uint64_t head[GO_HEADS_MOST]; /* addresses of words that may be runtime.allm */
	size_t head_count;
	uint64_t reasons;    /* address of runtime.waitReasonStrings, an array; 0: not known */
	size_t reason_count; /* number of elements of that array; SIZE_MAX: not known */
	struct go_layout layout;
	char version[GO_VERSION_TEXT]; /* "1.26.8" */
};

/* For a candidate of this kind finder_place returns a struct go_home. */
extern const struct finder_kind go_finder;

/* --- go_file.c: the section .go.buildinfo, and symbols of the runtime's variables -------- */

/* The result of a search of a file. Addresses are those in the image; 0: the file does not have the
 * item. */
struct go_file {
	/* address of .go.buildinfo or runtime.buildVersion, for go_version_read; 0: the module has
	 * no Go */
	uint64_t build;
	uint64_t all, head;    /* addresses of runtime.allgs and runtime.allm */
	uint64_t reasons;      /* address of runtime.waitReasonStrings */
	uint64_t reasons_size; /* size of runtime.waitReasonStrings in bytes */
};

struct go_file_search {
	const struct image *image;
	enum go_file_stage {
		GO_FILE_SECTION, /* looks for the section .go.buildinfo */
		GO_FILE_DATA,    /* without sections: scans data for .go.buildinfo */
		/* with .gopclntab but without .go.buildinfo: scans for runtime.buildVersion */
		GO_FILE_STRING,
		GO_FILE_SYMBOLS, /* looks for the symbols of the variables */
		GO_FILE_DONE,
	} stage;
	struct symbol_search symbols;
	size_t segment; /* number of the segment that is scanned */
	uint64_t at;    /* offset in that segment */
	struct go_file found;
};

/*
 * Implement search_begin and search_step of struct finder_kind, for a struct go_file_search, whose
 * member `found` is the result after the last step.
 */
bool go_file_search_begin(void *search, const struct module *module);
bool go_file_search_step(void *search, uint64_t *budget);

/* Returns true when all characters are printable ASCII. */
bool go_is_printable(const char *text, size_t length);

/* Reads a text such as "go1.26.8" from .go.buildinfo or runtime.buildVersion at the address.
 * Returns false when there is no version, or it is not readable yet. */
bool go_version_read(const struct memory *memory, uint64_t address, char text[GO_VERSION_TEXT]);
/* Parses a version, for example "go1.26.8" (26, 8, released) or "devel go1.27-…" (27, 0, not
 * released). Returns false when the text is no version of Go 1. */
bool go_version_parse(const char *text, uint32_t *minor, uint32_t *patch, bool *released);

/* --- go_fit.c: checks memory against the layout ------------------------------------------ */

/*
 * Checks whether the slice at this address is the list of all goroutines, from its first few
 * elements. With `first`, which the scan of go_scan.c sets, the first element must be goroutine 1,
 * as in nearly all programs.
 * FINDER_FIT_NOT_YET: the slice is not readable, or has no goroutine yet. FINDER_FIT_MISFIT: it is
 * not that list, or it is changing at this moment.
 */
enum finder_fit go_fit_all(const struct runtime_tools *tools, const struct go_layout *layout,
			   uint64_t address, bool first);
/* Returns true when the three words (address, length, capacity) are plausible as a slice of
 * pointers that is not empty. */
bool go_fit_is_slice(const uint64_t word[3]);
/* Returns true when the bytes, a copy of the memory at this address, are plausible as a thread. The
 * copy must include m_g0, m_tid, m_current and m_next. The goroutine m_g0 is read from memory: it
 * must refer back to the thread. */
bool go_fit_thread(const struct runtime_tools *tools, const struct go_layout *layout,
		   uint64_t address, const uint8_t *bytes);

/* --- go_scan.c: the variables of programs without symbols -------------------------------- */

/* A scan of a module's data segments for the runtime's variables. Pointers are borrowed. */
struct go_scan {
	const struct runtime_tools *tools;
	const struct go_layout *layout;
	const struct image *image;
	uint64_t bias;
	size_t segment; /* number of the segment that is scanned */
	uint64_t at;    /* offset in that segment */
	/* The variables that were found, as in struct go_home. */
	uint64_t all, head[GO_HEADS_MOST];
	size_t head_count;
	uint64_t reasons;
};

void go_scan_init(struct go_scan *scan, const struct runtime_tools *tools,
		  const struct go_layout *layout, const struct image *image, uint64_t bias);
/* Continues the scan, and subtracts the bytes scanned from *budget, until that is 0. Returns true
 * when all segments have been scanned. Must not be called while a stop request is outstanding. */
bool go_scan_step(struct go_scan *scan, uint64_t *budget);

#endif
