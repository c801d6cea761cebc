/* SPDX-License-Identifier: MIT */
/*
 * python_merge.c - inserts Python frames into a native call chain.
 *
 * A call of the bytecode loop is one native frame, and the Python frames that it executes are
 * inserted as the callees of that frame. The native frame is found by an address in it, if one is
 * known (python_group.anchor): this needs no function name, and works if the code of the loop is in
 * several parts. Up to 3.10 no address is known: native frames of the bytecode loop are recognised
 * by their code and counted, since each executes one Python frame.
 */
#include "runtime/python/python_internal.h"

/* Text of the frame that is inserted as the callee of frames whose position in the native call
 * chain is not known. */
#define UNMATCHED "[python: not matched with native frames]"
/* Text in place of a function whose code object is not readable. */
#define NO_CODE "[python: code not readable]"
/* Texts of the outermost frames of a greenlet, and of a stack while greenlets are switched. */
#define GREENLET "[greenlet]"
#define SWITCH "[greenlet: being switched]"

struct merge {
	const struct python_captured *captured;
	const struct chain *chain;
	struct runtime_frames *frames;
};

struct runtime_place
python_marker(const char *text)
{
	return (struct runtime_place){ .function = text, .file = "", .marker = true };
}

static void
merge_place(struct merge *merge, size_t before, struct runtime_place place)
{
	runtime_frames_add(merge->frames, before,
			   runtime_places_add(merge->captured->of->base.tools->places, &place));
}

struct runtime_place
python_frame_place(struct cpython *cpython, const struct python_frame *frame)
{
	const struct python_code *code = frame->code.address != 0 ?
						 python_codes_find(cpython->codes, &frame->code) :
						 NULL;

	if (code == NULL)
		return python_marker(NO_CODE);
	return (struct runtime_place){
		.function = code->function,
		.file = code->file,
		.line = python_codes_line(cpython->codes, &frame->code, frame->instruction,
					  frame->bytecode_index),
	};
}

static void
add_group(struct merge *merge, size_t before, size_t index)
{
	const struct python_captured *captured = merge->captured;

	for (size_t i = captured->group[index].begin; i < captured->group[index].end; i++)
		merge_place(merge, before, python_frame_place(captured->of, &captured->frame[i]));
}

/* Returns the index, not below `from`, of the native frame whose stack frame contains the address;
 * chain->count: there is none. Never returns the outermost native frame, because the end of its
 * stack frame is not known. */
static size_t
find_by_address(const struct chain *chain, size_t from, uint64_t address)
{
	for (size_t i = from; i + 1 < chain->count; i++)
		if (chain->frame[i].sp != 0 && chain->frame[i].sp <= address &&
		    address < chain->frame[i + 1].sp)
			return i;
	return chain->count;
}

bool
python_is_eval(const struct cpython *cpython, const struct chain_frame *frame)
{
	const uint64_t address = chain_frame_lookup(frame);

	for (size_t i = 0; i < cpython->place.eval_count; i++)
		if (address - cpython->place.eval[i].start < cpython->place.eval[i].size)
			return true;
	return false;
}

static size_t
count_evals(const struct merge *merge)
{
	size_t count = 0;

	for (size_t i = 0; i < merge->chain->count; i++)
		count += python_is_eval(merge->captured->of, &merge->chain->frame[i]);
	return count;
}

static size_t
next_eval(const struct merge *merge, size_t from)
{
	while (from < merge->chain->count &&
	       !python_is_eval(merge->captured->of, &merge->chain->frame[from]))
		from++;
	return from;
}

/* Inserts each group at a native frame of the bytecode loop, innermost first. Returns the number of
 * groups that were inserted. If the chain is whole and has more native frames of the bytecode loop
 * than groups, the innermost of these native frames get no group: a call of the loop has no Python
 * frame at its beginning and at its end. */
static size_t
match_by_count(struct merge *merge)
{
	const size_t groups = merge->captured->group_count;
	const bool whole = chain_end_is_whole(merge->chain->end);
	size_t evals = count_evals(merge), at, matched = 0;

	at = next_eval(merge, 0);
	for (; whole && evals > groups; evals--)
		at = next_eval(merge, at + 1);
	while (matched < groups && at < merge->chain->count) {
		add_group(merge, at, matched++);
		at = next_eval(merge, at + 1);
	}
	return matched;
}

static size_t
match_by_address(struct merge *merge)
{
	const struct python_captured *captured = merge->captured;
	size_t at = 0, matched = 0;

	for (; matched < captured->group_count; matched++) {
		const uint64_t anchor = captured->group[matched].anchor;
		const size_t found = anchor != 0 ? find_by_address(merge->chain, at, anchor) :
						   merge->chain->count;

		if (found == merge->chain->count)
			break;
		add_group(merge, found, matched);
		at = found;
	}
	return matched;
}

/* Returns true when there are at least two groups fewer than native frames of the bytecode loop
 * (3.11 and later): then the captured frames are outdated or incomplete. A difference of one is
 * normal, because the innermost call may be at its beginning, and have no frames yet. */
static bool
lacks_frames(const struct merge *merge)
{
	const struct python_captured *captured = merge->captured;

	return captured->known && !captured->cut &&
	       python_since(&captured->of->place.layout, 3, 11) &&
	       count_evals(merge) > captured->group_count + 1;
}

void
python_merge(void *state, const void *memory, const struct chain *chain,
	     struct runtime_frames *frames)
{
	const struct python_captured *captured = memory;
	struct merge merge = { .captured = captured, .chain = chain, .frames = frames };
	size_t matched;

	(void)state;
	if (captured->of == NULL)
		return;
	if (captured->greenlet == PYTHON_GREENLET_SWITCH) {
		merge_place(&merge, chain->count, python_marker(SWITCH));
		return;
	}
	if (captured->count > 0 && captured->group[0].anchor == 0)
		matched = match_by_count(&merge);
	else
		matched = match_by_address(&merge);
	/* A chain that is not whole lacks the native frames of the remaining groups. No marker is
	 * added then: chain_end_text(chain->end) says that the chain is incomplete. */
	if (matched < captured->group_count && chain_end_is_whole(chain->end))
		merge_place(&merge, chain->count, python_marker(UNMATCHED));
	for (size_t i = matched; i < captured->group_count; i++)
		add_group(&merge, chain->count, i);
	frames->cut |= captured->cut;
	if (captured->cut)
		merge_place(&merge, chain->count, python_marker(PYTHON_CUT));
	else if (captured->broken || lacks_frames(&merge))
		merge_place(&merge, chain->count, python_marker(PYTHON_BROKEN));
	if (captured->greenlet == PYTHON_GREENLET_RUNS)
		merge_place(&merge, chain->count, python_marker(GREENLET));
}
