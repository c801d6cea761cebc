/* SPDX-License-Identifier: MIT */
/*
 * go_find_internal.h - finds the Go runtimes of a process: layouts, and the sources of what
 * go_find.c combines, each testable alone.
 */
#ifndef WALLSAMPLE_RUNTIME_GO_GO_FIND_INTERNAL_H
#define WALLSAMPLE_RUNTIME_GO_GO_FIND_INTERNAL_H

#include <elfutils/libdw.h>

#include "runtime/finder_internal.h"
#include "wallsample/elf/symbol_search.h"
#include "wallsample/process/module.h"

/* --- go_layout.c, go_dwarf.c: offsets in Go's structures, by version --------------------- */

/*
 * A layout has two sources: the table of released versions (made by tools/go-layout from DWARF; the
 * same on all 64-bit architectures), and the DWARF of the program, for all other versions.
 */

/* Offset of a member that the version does not have. */
#define GO_ABSENT UINT32_MAX

/* X(name, structure, path): offsets in bytes in runtime.g, a goroutine, and runtime.m, a thread. */
#define GO_OFFSETS(X)                                                                              \
	X(g_low, G, "stack.lo")                                                                    \
	X(g_high, G, "stack.hi")                                                                   \
	X(g_m, G, "m")         /* its thread; 0: none */                                           \
	X(g_sp, G, "sched.sp") /* where it continues */                                            \
	X(g_pc, G, "sched.pc")                                                                     \
	X(g_fp, G, "sched.bp")                                                                     \
	X(g_call_sp, G, "syscallsp") /* of the caller of the kernel or C; 0: none */               \
	X(g_call_pc, G, "syscallpc")                                                               \
	X(g_call_fp, G, "syscallbp")   /* 1.23 and later */                                        \
	X(g_status, G, "atomicstatus") /* 32 bits */                                               \
	X(g_id, G, "goid")                                                                         \
	X(g_since, G, "waitsince")    /* nanotime, by the collector; 0: not yet */                 \
	X(g_reason, G, "waitreason")  /* a byte */                                                 \
	X(g_runs, G, "trackingSeq")   /* a byte: how often it has stopped running */               \
	X(g_creator, G, "parentGoid") /* 1.21 and later */                                         \
	X(g_created, G, "gopc")                                                                    \
	X(g_entry, G, "startpc")                                                                   \
	X(m_g0, M, "g0") /* the scheduler, on the thread's own stack */                            \
	X(m_tid, M, "procid")                                                                      \
	X(m_current, M, "curg")                                                                    \
	X(m_next, M, "alllink")                                                                    \
	X(m_vdso_sp, M, "vdsoSP") /* of the caller of the vdso; 0: not there */                    \
	X(m_vdso_pc, M, "vdsoPC")

/* Layouts that need more bytes of the structures are refused. */
#define GO_G_MOST 1024
#define GO_M_MOST 4096

struct go_layout {
	uint32_t minor;          /* 26 of 1.26.8 */
	uint32_t patch;          /* in the table: the first with this layout */
	uint32_t g_size, m_size; /* up to the last member named above */
#define X(name, structure, path) uint32_t name;
	GO_OFFSETS(X)
#undef X
};

/* The oldest and the newest version of the table. */
#define GO_MINOR_OLDEST 19
#define GO_MINOR_NEWEST 27

/* The layout of release 1.MINOR.PATCH; NULL: not in the table. */
const struct go_layout *go_layout_of(uint32_t minor, uint32_t patch);

/* Reads the program's DWARF. False: members are missing, or not plausible. */
bool go_layout_read(Dwarf *dwarf, uint32_t minor, struct go_layout *layout);

/* Name ("g_low") and value of the member at `index`; NULL: no more. */
const char *go_layout_member(const struct go_layout *layout, size_t index, uint32_t *value);

/* Sets the sizes, which follow from the members. False: a member is missing or implausible. */
bool go_layout_finish(struct go_layout *layout);

/* Members of structures that were read; 0 for an absent one. */
uint64_t go_word(const uint8_t *bytes, uint32_t offset);
uint32_t go_word32(const uint8_t *bytes, uint32_t offset);

/* --- go_find.c --------------------------------------------------------------------------- */

/* Words that may be runtime.allm: without symbols several words may look like it. */
#define GO_HEADS_MOST 8
#define GO_VERSION_TEXT 48

/* Where one Go runtime is in the target. */
struct go_home {
	uint32_t module;
	uint64_t bias;
	uint64_t all;                 /* runtime.allgs, a slice of all goroutines; 0: not found */
	uint64_t head[GO_HEADS_MOST]; /* runtime.allm: the one with the longest list */
	size_t head_count;
	uint64_t reasons; /* runtime.waitReasonStrings, an array of strings; 0: not known */
	size_t reason_count;
	struct go_layout layout;
	char version[GO_VERSION_TEXT]; /* "1.26.8" */
};

extern const struct finder_kind go_finder; /* its place: a struct go_home */

/* --- go_file.c: the section .go.buildinfo, and symbols of the runtime's variables -------- */

/* Addresses are the image's own; 0: absent. */
struct go_file {
	uint64_t build; /* for go_version_read; 0: the module has no Go */
	uint64_t all, head;
	uint64_t reasons, reasons_size;
};

struct go_file_search {
	const struct image *image;
	enum go_file_stage {
		GO_FILE_SECTION,
		GO_FILE_DATA,   /* without sections: .go.buildinfo begins the data segment */
		GO_FILE_STRING, /* without .go.buildinfo: runtime.buildVersion */
		GO_FILE_SYMBOLS,
		GO_FILE_DONE,
	} stage;
	struct symbol_search symbols;
	size_t segment;
	uint64_t at;
	struct go_file found;
};

void go_file_search_init(struct go_file_search *search, const struct image *image);
/* Continues until *budget bytes are read, and subtracts them. True: search->found is final. */
bool go_file_search_step(struct go_file_search *search, uint64_t *budget);

/* --- go_version.c ------------------------------------------------------------------------ */

/* Reads "go1.26.8" from .go.buildinfo or runtime.buildVersion at the address. False: absent, or not
 * readable yet. */
bool go_version_read(const struct memory *memory, uint64_t address, char text[GO_VERSION_TEXT]);
/* Parses "go1.26.8" (26, 8) or "devel go1.27-…" (27, 0). False: not a version of Go 1. */
bool go_version_parse(const char *text, uint32_t *minor, uint32_t *patch, bool *released);

/* --- go_fit.c: does memory fit the layout? ----------------------------------------------- */

/*
 * Is the slice at this address the list of all goroutines? With `first` its first element must be
 * goroutine 1, as it nearly always is: a scan takes no other slice for it. MISFIT may result from a
 * list that is changing.
 */
enum finder_fit go_fit_all(const struct runtime_tools *tools, const struct go_layout *layout,
			   uint64_t address, bool first);
/* Are these three words plausible as a slice of pointers? */
bool go_fit_is_slice(const uint64_t word[3]);
/* Are the g_size bytes plausible as a goroutine? */
bool go_fit_goroutine(const struct go_layout *layout, const uint8_t *bytes);
/* Are the m_size bytes at this address plausible as a thread? Reads its goroutine g0. */
bool go_fit_thread(const struct runtime_tools *tools, const struct go_layout *layout,
		   uint64_t address, const uint8_t *bytes);

/* --- go_scan.c: the variables of programs without symbols -------------------------------- */

/* Pointers are borrowed. */
struct go_scan {
	const struct runtime_tools *tools;
	const struct go_layout *layout;
	const struct image *image;
	uint64_t bias;
	size_t segment;
	uint64_t at;
	uint64_t all, head[GO_HEADS_MOST];
	size_t head_count;
	uint64_t reasons;
};

void go_scan_init(struct go_scan *scan, const struct runtime_tools *tools,
		  const struct go_layout *layout, const struct image *image, uint64_t bias);
/* True: all segments have been scanned. May only be called while no stop request is pending. */
bool go_scan_step(struct go_scan *scan, uint64_t *budget);

#endif
