/* SPDX-License-Identifier: MIT */
/*
 * profile_frame.h - the interned texts, frames and stacks of a profile. Ids are 0, 1, 2, ... and
 * never change. A pointer to a frame is valid until another frame is interned, a pointer to a stack
 * until another stack is interned, and a text until profile_free.
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_FRAME_H
#define WALLSAMPLE_PROFILE_PROFILE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_NONE UINT32_MAX
#define STACK_NONE UINT32_MAX /* caller of an outermost frame */

/* Text of the outermost frame of a gap. A gap is time in which no thread was runnable. */
#define PROFILE_GAP "[waiting]"

/* Text of the only frame in place of the stack of a lock holder that the lock does not record. */
#define PROFILE_UNRECORDED_HOLDER "[unknown: the lock records no owner]"
/* The same for a lock that had no holder, and the beginning of "[held by NAME (PID)]", the text for
 * a holder in a process that is not sampled. */
#define PROFILE_FREE_LOCK "[free or being handed over]"
#define PROFILE_HELD_BY "[held by "
/* The same for objects of the kernel, which records processes and not threads: the beginnings of
 * "[held by a thread of NAME (PID)]" for a sampled process of which several threads may hold the
 * lock of a file, and of "[last operated by NAME (PID)]" for a semaphore of System V; and the text
 * if the process is not known. "[2 readers: NAME (PID), NAME (PID)]" stands for several holders. */
#define PROFILE_HELD_BY_THREAD_OF PROFILE_HELD_BY "a thread of "
#define PROFILE_OPERATED_BY "[last operated by "
#define PROFILE_NO_HOLDER "[unknown: no holder is recorded]"
/* Beginning of the outermost frame of what the last process of a chain does: the processes between
 * it and the waiter, as in "[through nginx (812)]". */
#define PROFILE_THROUGH "[through "

/*
 * Texts of the only frame of a thread's time that the kernel has counted and for which there is no
 * sample, by the state of the thread; and the name of the record that has the CPU time of threads
 * that ended before they were seen.
 */
#define PROFILE_UNSAMPLED_CPU "[CPU time without a sample]"
#define PROFILE_UNSAMPLED_QUEUE "[wait for a CPU without a sample]"
#define PROFILE_UNSAMPLED_BLOCKED "[blocked time without a sample]"
#define PROFILE_ENDED_THREADS "[ended threads]"
/* Name of the record that has the CPU time of children that ended before they were seen. */
#define PROFILE_UNSAMPLED_CHILDREN "[children not sampled]"

/*
 * X(NAME, text): the kinds of named frames. A named frame has a text in place of code. If `text`
 * ends in "]", a frame of this kind has exactly this text, otherwise its text begins with `text`.
 * If several rows match a text, the first of them is its kind.
 */
#define NAMED_FRAMES(X)                                                                            \
	X(GAP, PROFILE_GAP)      /* no thread was runnable */                                      \
	X(SLEEPING, "[sleeping") /* second frame: the wait whose end ended the gap */              \
	X(UNINTERRUPTIBLE, "[uninterruptible") /* likewise: an uninterruptible sleep */            \
	X(IDLE, "[nothing ran until the end]") /* second frame of a gap that no wait ended */      \
	X(TASK_FINISHED, "[failed: task already finished]")                                        \
	X(FAILED, "[failed: ")       /* SAMPLE_FAILURES in run_stats.h, except NOT_STOPPED */      \
	X(TRUNCATED, "[truncated: ") /* CHAIN_ENDS in chain.h */

enum named_frame {
	NAMED_NONE,  /* the frame is code, data or an interpreted function */
	NAMED_OTHER, /* a named frame with any other text */
#define X(name, text) NAMED_##name,
	NAMED_FRAMES(X)
#undef X
};

/* Returns the kind of the named frame that has this text; never NAMED_NONE. */
enum named_frame named_frame_of(const char *text);

/*
 * A frame is one of: code at an address of a module; data at an address of a module (origin
 * FRAME_DATA); a function of an interpreted program at a line (module MODULE_NONE, origin
 * FRAME_SCRIPT); a named frame, whose text wallsample has made (module MODULE_NONE).
 */
struct profile_frame {
	uint32_t module; /* id in struct modules, or MODULE_NONE */
	uint8_t origin;  /* enum frame_origin */
	uint8_t named;   /* enum named_frame, derived from the text when the frame is interned */
	uint32_t epoch;  /* epoch of code made at run time (jit.h); else 0 */
	/*
	 * For code: the address of the call in the module, as symbols_find takes it. For data: the
	 * address in the module. For a named frame and for an interpreted function: the id of its
	 * text.
	 */
	uint64_t address;
	/*
	 * for a frame of V8's interpreter that executes known bytecode: jit_bytecode.object
	 * (jit.h); else 0
	 */
	uint64_t bytecode;
	uint32_t bytecode_size;
	/*
	 * For an interpreted function (FRAME_SCRIPT): the id of the text with the path of its file,
	 * and the number of the line, 0 if the line is not known. For other frames both are 0.
	 */
	uint32_t file, line;
};

/* A stack is stored as its innermost frame and the stack of the caller. */
struct profile_stack {
	uint32_t frame;  /* id of a frame */
	uint32_t caller; /* id of a stack; STACK_NONE for an outermost frame */
};

struct profile;

/* Each returns the id of an equal text, frame or stack, which is added if there is none. `name` and
 * `file` of profile_intern_script are ids of texts. */
uint32_t profile_intern_text(struct profile *profile, const char *text);
uint32_t profile_intern_frame(struct profile *profile, const struct profile_frame *frame);
uint32_t profile_intern_named(struct profile *profile, const char *text);
uint32_t profile_intern_script(struct profile *profile, uint32_t name, uint32_t file,
			       uint32_t line);
uint32_t profile_intern_stack(struct profile *profile, uint32_t frame, uint32_t caller);

/*
 * profile_rename_frame replaces the text of a named frame; profile_intern_named still finds the
 * frame by its first text. profile_renamed_count returns the number of calls of
 * profile_rename_frame so far, and profile_renamed the frame that call number `index` renamed; the
 * first call has the number 0.
 */
void profile_rename_frame(struct profile *profile, uint32_t frame, const char *text);
size_t profile_renamed_count(const struct profile *profile);
uint32_t profile_renamed(const struct profile *profile, size_t index);

const char *profile_text(const struct profile *profile, uint32_t id);
size_t profile_frame_count(const struct profile *profile);
size_t profile_stack_count(const struct profile *profile);
const struct profile_frame *profile_frame(const struct profile *profile, uint32_t id);
/*
 * Returns the ids of all frames, ordered by module and address: files are read from front to back
 * if frames are resolved in this order. The caller frees the array.
 */
uint32_t *profile_frames_by_address(const struct profile *profile);
const struct profile_stack *profile_stack(const struct profile *profile, uint32_t id);

#endif
