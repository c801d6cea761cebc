/* SPDX-License-Identifier: MIT */
/*
 * profile_frame.h - the interned texts, frames and stacks of a profile. Ids are dense, start at 0
 * and never change. Pointers to frames and stacks are valid until the next one is interned.
 */
#ifndef WALLSAMPLE_PROFILE_PROFILE_FRAME_H
#define WALLSAMPLE_PROFILE_PROFILE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_NONE UINT32_MAX
#define STACK_NONE UINT32_MAX /* the caller of an outermost frame */

/* Text of the outermost frame of the real time in which no thread was runnable. */
#define PROFILE_GAP "[waiting]"

/*
 * Kinds of named frames. X(NAME, text): a text that ends in "]" is the whole text of such a frame,
 * another one its beginning. The first row that matches counts.
 */
#define NAMED_FRAMES(X)                                                                            \
	X(GAP, PROFILE_GAP)      /* no thread was runnable */                                      \
	X(SLEEPING, "[sleeping") /* how a gap ended */                                             \
	X(DISK, "[disk")                                                                           \
	X(IDLE, "[nothing ran until the end]")                                                     \
	X(TASK_FINISHED, "[failed: task already finished]")                                        \
	X(FAILED, "[failed: ")       /* SAMPLE_FAILURES */                                         \
	X(TRUNCATED, "[truncated: ") /* CHAIN_ENDS */

enum named_frame {
	NAMED_NONE,  /* no named frame: code, data or an interpreted function */
	NAMED_OTHER, /* a text that no row matches */
#define X(name, text) NAMED_##name,
	NAMED_FRAMES(X)
#undef X
};

/* Returns the kind of the named frame that has this text; never NAMED_NONE. */
enum named_frame named_frame_of(const char *text);

/*
 * A frame is one of: code at an address of a module; data at an address of a module (origin
 * FRAME_DATA); a function of an interpreted program at a line (module MODULE_NONE, origin
 * FRAME_SCRIPT); a named frame, which has a text of wallsample's (module MODULE_NONE).
 */
struct profile_frame {
	uint32_t module;   /* number in struct modules, or MODULE_NONE */
	uint8_t origin;    /* enum frame_origin */
	uint8_t named;     /* enum named_frame, derived from the text when the frame is interned */
	uint32_t epoch;    /* of code made at run time, see jit.h; else 0 */
	uint64_t address;  /* of code: as symbols_find takes it, already that of the call; of a
			   * named frame or an interpreted function: the id of its text */
	uint64_t bytecode; /* of an interpreter's frame: see struct jit_bytecode; else 0 */
	uint32_t bytecode_size;
	uint32_t file, line; /* of an interpreted function: id of its file's text, and the line
			      * (0: not known); else 0 */
};

/* A stack is its innermost frame and the stack of the caller. */
struct profile_stack {
	uint32_t frame;  /* id of a frame */
	uint32_t caller; /* id of a stack, or STACK_NONE */
};

struct profile;

/* Each returns the id of an equal text, frame or stack, which is added if there is none. */
uint32_t profile_intern_text(struct profile *profile, const char *text);
uint32_t profile_intern_frame(struct profile *profile, const struct profile_frame *frame);
uint32_t profile_intern_named(struct profile *profile, const char *text);
uint32_t profile_intern_script(struct profile *profile, uint32_t name, uint32_t file,
			       uint32_t line);
uint32_t profile_intern_stack(struct profile *profile, uint32_t frame, uint32_t caller);

/*
 * Replaces the text of a named frame. profile_intern_named still finds the frame by its first text.
 * profile_renamed lists such frames, in the order of the calls.
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
