/* SPDX-License-Identifier: MIT */
/*
 * python_merge.c - Python frames find their places in a native call chain.
 *
 * A call of the function that executes bytecode is one native frame, and the Python frames it
 * executes stand inside of that. Which one it is tells an address on its part of the stack, where
 * one is known; this needs no name of a function, and holds where its code is in several
 * pieces. Where none is known (up to 3.10), the calls are counted: they are told by
 * their code, and there is one for each Python frame.
 */
#include "runtime/python/python_internal.h"

#define UNMATCHED "[python: not matched with native frames]"
#define NO_CODE "[python: code not readable]"

struct merge {
	const struct python_captured *captured;
	const struct chain *chain;
	struct runtime_frames *frames;
};

static void
add_marker(struct merge *merge, size_t before, const char *text)
{
	const struct runtime_place place = { .function = text, .file = "", .marker = true };

	runtime_frames_add(merge->frames, before,
			   runtime_places_add(merge->captured->of->base.tools->places, &place));
}

struct runtime_place
python_frame_place(struct cpython *cpython, const struct python_frame *frame)
{
	const struct python_code *code =
		frame->code.address != 0 ? python_codes_find(cpython->codes, &frame->code) : NULL;

	if (code == NULL)
		return (struct runtime_place){ .function = NO_CODE, .file = "", .marker = true };
	return (struct runtime_place){
		.function = code->function,
		.file = code->file,
		.line = python_codes_line(cpython->codes, &frame->code, frame->instruction,
					  frame->bytecode_index),
	};
}

static void
add_frame(struct merge *merge, size_t before, const struct python_frame *frame)
{
	struct cpython *cpython = merge->captured->of;
	const struct runtime_place place = python_frame_place(cpython, frame);

	runtime_frames_add(merge->frames, before,
			   runtime_places_add(cpython->base.tools->places, &place));
}

static void
add_group(struct merge *merge, size_t before, size_t index)
{
	const struct python_captured *captured = merge->captured;

	for (size_t i = captured->group[index].begin; i < captured->group[index].end; i++)
		add_frame(merge, before, &captured->frame[i]);
}

/* The frame of the chain, at `from` or further out, on whose part of the stack the address lies;
 * chain->count: none. Where the stack of its outermost frame ends is not known. */
static size_t
find_by_address(const struct chain *chain, size_t from, uint64_t address)
{
	for (size_t i = from; i + 1 < chain->count; i++)
		if (chain->frame[i].sp != 0 && chain->frame[i].sp <= address &&
		    address < chain->frame[i + 1].sp)
			return i;
	return chain->count;
}

static bool
is_eval(const struct cpython *cpython, const struct chain_frame *frame)
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
		count += is_eval(merge->captured->of, &merge->chain->frame[i]);
	return count;
}

static size_t
next_eval(const struct merge *merge, size_t from)
{
	while (from < merge->chain->count &&
	       !is_eval(merge->captured->of, &merge->chain->frame[from]))
		from++;
	return from;
}

/*
 * Each group at its call, innermost first; returns how many found theirs. Where it begins and ends
 * a call has no Python frame: so the outermost belong together.
 */
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

/*
 * Each call executes Python frames, but for one that just begins. Are there fewer, the frames that
 * were found are not those of now, or not all.
 */
static bool
lacks_frames(const struct merge *merge)
{
	const struct python_captured *captured = merge->captured;

	return captured->known && !captured->cut &&
	       python_since(&captured->of->place.layout, 3, 11) &&
	       count_evals(merge) > captured->group_count + 1;
}

void
python_merge(const struct python_captured *captured, const struct chain *chain,
	     struct runtime_frames *frames)
{
	struct merge merge = { .captured = captured, .chain = chain, .frames = frames };
	size_t matched;

	if (captured->count > 0 && captured->group[0].anchor == 0)
		matched = match_by_count(&merge);
	else
		matched = match_by_address(&merge);
	/* A stack that ends too early has no room for the others, and it says so itself. */
	if (matched < captured->group_count && chain_end_is_whole(chain->end))
		add_marker(&merge, chain->count, UNMATCHED);
	for (size_t i = matched; i < captured->group_count; i++)
		add_group(&merge, chain->count, i);
	if (captured->cut)
		add_marker(&merge, chain->count, PYTHON_CUT);
	else if (captured->broken || lacks_frames(&merge))
		add_marker(&merge, chain->count, PYTHON_BROKEN);
}
