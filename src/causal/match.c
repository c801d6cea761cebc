/* SPDX-License-Identifier: MIT */
/* match.c - finds the candidates in a stack by the names of its frames. */
#include "causal/causal_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"

void
match_release(struct match *match)
{
	free(match->frame);
	free(match->queue);
	*match = (struct match){ .result = NULL };
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* True if the candidate is a line, and the symbol is at that line in a function with whose name the
 * candidate's name begins. The name of such a candidate is "render (page.c:123)", as in a view by
 * line. */
static bool
is_line(const struct causal_candidate *candidate, const struct symbol *symbol)
{
	return symbol->file != NULL && candidate->file != NULL && symbol->line == candidate->line &&
	       strcmp(symbol->file, candidate->file) == 0 &&
	       strncmp(candidate->name, symbol->function, strlen(symbol->function)) == 0;
}

static bool
is_candidate(const struct match *match, const struct causal_candidate *candidate,
	     const struct symbol *symbol, bool script)
{
	switch (match->result->unit) {
	case CAUSAL_BY_MODULE:
		/* The name of the candidate has as many directories as the view needed. */
		if (script && candidate->file != NULL && symbol->file != NULL)
			return strcmp(candidate->file, symbol->file) == 0;
		return strcmp(candidate->name, symbol->module) == 0;
	case CAUSAL_BY_LINE:
		if (symbol->line > 0 && candidate->line > 0)
			return is_line(candidate, symbol);
		break;
	case CAUSAL_BY_FUNCTION:
		break;
	}
	if (strcmp(candidate->name, symbol->function) != 0)
		return false;
	/* Interpreted functions are compared by the path of their file, if it is known, because
	 * several files may have the same base name. */
	if (script)
		return candidate->file == NULL || symbol->file == NULL ||
		       strcmp(candidate->file, symbol->file) == 0;
	return strcmp(candidate->module, symbol->module) == 0;
}

/* Stores the symbols of a frame's function and of the functions inlined there, innermost first.
 * Returns the number of symbols. */
static size_t
name_frame(struct match *match, const struct profile_frame *frame,
	   struct symbol symbol[SYMBOL_CHAIN_MAX])
{
	const struct symbol_place place = {
		.module = frame->module,
		.epoch = frame->epoch,
		.vaddr = frame->address,
		.bytecode = { frame->bytecode, frame->bytecode_size },
	};

	if (frame->origin == FRAME_SCRIPT) {
		const char *file = profile_text(match->profile, frame->file);

		symbol[0] = (struct symbol){
			.function = profile_text(match->profile, (uint32_t)frame->address),
			.module = base_name(file),
			.file = file[0] != '\0' ? file : NULL,
			.line = frame->line,
		};
		return 1;
	}
	if (frame->module == MODULE_NONE)
		return 0; /* a named frame (profile_frame.h), which has no code */
	return symbols_find(match->symbols, &place, symbol, SYMBOL_CHAIN_MAX);
}

/* Names a frame and sets its masks. */
static void
match_frame(struct match *match, uint32_t id)
{
	const struct profile_frame *frame = profile_frame(match->profile, id);
	const struct causal_result *result = match->result;
	struct match_frame *to = &match->frame[id];
	struct symbol symbol[SYMBOL_CHAIN_MAX];
	const size_t names = name_frame(match, frame, symbol);

	for (size_t name = 0; name < names; name++) {
		for (size_t i = 0; i < result->candidate_count; i++) {
			const uint64_t bit = UINT64_C(1) << i;

			if (!is_candidate(match, &result->candidate[i], &symbol[name],
					  frame->origin == FRAME_SCRIPT))
				continue;
			to->mask |= bit;
			to->inner |= name == 0 ? bit : 0;
		}
	}
}

/* Returns the masks of a frame, and queues the frame for naming if it is new. */
static const struct match_frame *
find_frame(struct match *match, uint32_t id)
{
	if (id >= match->frames) {
		size_t before = match->frames;

		match->frame = xgrow(match->frame, &match->frame_capacity, id + 1,
				     sizeof(*match->frame));
		match->frames = match->frame_capacity;
		memset(match->frame + before, 0, (match->frames - before) * sizeof(*match->frame));
	}
	if (!match->frame[id].queued) {
		match->frame[id].queued = true;
		match->queue = xgrow(match->queue, &match->queue_capacity, match->queue_count + 1,
				     sizeof(*match->queue));
		match->queue[match->queue_count++] = id;
	}
	return &match->frame[id];
}

void
match_name_queued(struct match *match)
{
	for (size_t i = 0; i < match->queue_count; i++)
		match_frame(match, match->queue[i]);
	match->queue_count = 0;
}

uint64_t
match_stack(struct match *match, uint32_t stack)
{
	uint64_t mask = 0;
	bool innermost = true;

	while (stack != STACK_NONE) {
		const struct profile_stack *level = profile_stack(match->profile, stack);
		const struct match_frame *frame = find_frame(match, level->frame);

		if (!match->result->self) {
			mask |= frame->mask;
		} else if (innermost) {
			mask |= frame->inner;
		} else if (profile_frame(match->profile, level->frame)->origin == FRAME_SCRIPT) {
			/* The innermost interpreted function, whose native callee is the leaf of
			 * the stack, is treated as a leaf, too. */
			return mask | frame->inner;
		}
		innermost = false;
		stack = level->caller;
	}
	return mask;
}
