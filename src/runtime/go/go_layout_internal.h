/* SPDX-License-Identifier: MIT */
/*
 * go_layout_internal.h - where Go keeps what we read: offsets in its structures, by version.
 *
 * Two sources: the table of released versions (made by tools/go-layout from DWARF; the same on all
 * architectures of 64 bits), and the DWARF of the program, which alone knows other versions.
 */
#ifndef WALLSAMPLE_RUNTIME_GO_GO_LAYOUT_INTERNAL_H
#define WALLSAMPLE_RUNTIME_GO_GO_LAYOUT_INTERNAL_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A member that the version does not have. */
#define GO_ABSENT UINT32_MAX

/* X(name, structure, path): offsets in bytes in runtime.g, a goroutine, and runtime.m, a thread. */
#define GO_OFFSETS(X)                                                          \
	X(g_low, G, "stack.lo")                                                \
	X(g_high, G, "stack.hi")                                               \
	X(g_m, G, "m")                   /* that runs it; 0: none */           \
	X(g_sp, G, "sched.sp")           /* where it goes on */                \
	X(g_pc, G, "sched.pc")                                                 \
	X(g_fp, G, "sched.bp")                                                 \
	X(g_call_sp, G, "syscallsp")     /* of who called the kernel, or C; 0: nobody */ \
	X(g_call_pc, G, "syscallpc")                                           \
	X(g_call_fp, G, "syscallbp")     /* 1.23 and later */                  \
	X(g_status, G, "atomicstatus")   /* 32 bits */                         \
	X(g_id, G, "goid")                                                     \
	X(g_since, G, "waitsince")       /* nanotime, by the collector; 0: not yet */ \
	X(g_reason, G, "waitreason")     /* a byte */                          \
	X(g_runs, G, "trackingSeq")      /* a byte: how often it has stopped running */ \
	X(g_creator, G, "parentGoid")    /* 1.21 and later */                  \
	X(g_created, G, "gopc")                                                \
	X(g_entry, G, "startpc")                                               \
	X(m_g0, M, "g0")                 /* what schedules, on a stack of the thread's own */ \
	X(m_tid, M, "procid")                                                  \
	X(m_current, M, "curg")                                                \
	X(m_next, M, "alllink")                                                \
	X(m_vdso_sp, M, "vdsoSP")        /* of the caller of the vdso; 0: not there */ \
	X(m_vdso_pc, M, "vdsoPC")

/* Structures of more bytes, up to the last member that is wanted, are none. */
#define GO_G_MOST 1024
#define GO_M_MOST 4096

struct go_layout {
	uint32_t minor;  /* 26 of 1.26.8 */
	uint32_t patch;  /* in the table: the first that is laid out so */
	uint32_t g_size, m_size; /* up to the last member named above */
#define X(name, structure, path) uint32_t name;
	GO_OFFSETS(X)
#undef X
};

/* The oldest and the newest version of the table. */
#define GO_MINOR_OLDEST 19
#define GO_MINOR_NEWEST 27

/* Of release 1.MINOR.PATCH; NULL: it is not in the table. */
const struct go_layout *go_layout_of(uint32_t minor, uint32_t patch);

/* From the program's DWARF. False: it does not have all that is wanted, or what it says cannot
 * be. */
bool go_layout_read(Dwarf *dwarf, uint32_t minor, struct go_layout *layout);

/* Name of a member ("g_low") and the member; index 0 on, NULL: no more. */
const char *go_layout_member(const struct go_layout *layout, size_t index, uint32_t *value);

/* What follows from the others: sizes. False: a member is missing, or too far off. */
bool go_layout_finish(struct go_layout *layout);

#endif
