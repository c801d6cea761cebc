/* SPDX-License-Identifier: MIT */
/*
 * python_eval.c - finds the parts of a function by the branches between them.
 *
 * The code is not disassembled: any bytes that look like a branch are treated as a branch. If they
 * are not one, the branch may lead anywhere, also into another function that seems to branch back;
 * therefore several branches back are required.
 */
#include "runtime/python/python_find_internal.h"

#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/elf/code_ranges.h"

/* Most bytes of code that one call of python_eval_parts reads: the bytecode loop has 90 KiB, its
 * seldom executed parts have 20 KiB. */
#define CODE_MOST ((uint64_t)4 << 20)
/* Bytes of code that are read at once (a piece), and bytes by which two pieces overlap, because an
 * instruction may cross the end of a piece. */
#define PIECE ((size_t)64 << 10)
#define OVERLAP ((size_t)8)
/* Most candidates (ranges that a known part branches to, and that may be parts) for each known
 * part; most searches for the range around a branch target in one call of python_eval_parts. */
#define CANDIDATES_MOST 512
#define SEARCHES_MOST 2048
/* Number of branches into the middle of known parts that prove a range to be a part: parts in
 * released versions of CPython have 156 and more. */
#define BACK_LEAST 3

struct parts {
	const struct image *image;
	struct address_range *range;
	size_t count, most;
	struct address_range candidate[CANDIDATES_MOST];
	size_t candidate_count, searches, back;
	uint64_t code_left;
};

/* Returns the range that contains the address, or NULL. */
static const struct address_range *
find_range(const struct address_range *range, size_t count, uint64_t vaddr)
{
	for (size_t i = 0; i < count; i++)
		if (vaddr - range[i].start < range[i].size)
			return &range[i];
	return NULL;
}

/* Called for each address to which a branch leads. If it returns true, the search ends. */
typedef bool visitor(struct parts *parts, uint64_t target);

static bool
visit_branches(struct parts *parts, const struct address_range *code, visitor *visit)
{
	const uint64_t size = code->size < parts->code_left ? code->size : parts->code_left;
	uint8_t *piece = xmalloc(PIECE);
	bool done = false;

	parts->code_left -= size;
	for (uint64_t from = 0; from < size && !done; from += PIECE - OVERLAP) {
		const size_t part = size - from < PIECE ? (size_t)(size - from) : PIECE;

		if (!image_read_vaddr(parts->image, code->start + from, piece, part))
			break;
		for (size_t at = 0; at < part && !done; at += python_branch_step) {
			int64_t distance;

			if (python_branch_at(piece + at, part - at, &distance))
				done = visit(parts, code->start + from + at + (uint64_t)distance);
		}
	}
	free(piece);
	return done;
}

/* Adds as a candidate the range of code (code_range) that contains the branch target, if the target
 * is not its first byte, and is outside of all known parts and candidates. Returns true when a
 * limit is reached, and the search must end. */
static bool
keep_candidate(struct parts *parts, uint64_t target)
{
	struct address_range found;

	if (find_range(parts->range, parts->count, target) != NULL ||
	    find_range(parts->candidate, parts->candidate_count, target) != NULL ||
	    target < parts->image->low || target >= parts->image->high)
		return false;
	if (parts->searches++ == SEARCHES_MOST || parts->candidate_count == CANDIDATES_MOST)
		return true;
	if (code_range(parts->image, target, &found.start, &found.size) && target != found.start)
		parts->candidate[parts->candidate_count++] = found;
	return false;
}

/* Counts the branch if it leads into the middle of a known part. Returns true when the candidate
 * has BACK_LEAST such branches, and is a part. */
static bool
leads_back(struct parts *parts, uint64_t target)
{
	const struct address_range *range = find_range(parts->range, parts->count, target);

	return range != NULL && target != range->start && ++parts->back == BACK_LEAST;
}

/* Appends to parts->range the ranges that a branch from parts->range[index] leads to, and that have
 * at least BACK_LEAST branches into known parts. */
static void
search_range(struct parts *parts, size_t index)
{
	const struct address_range code = parts->range[index];

	parts->candidate_count = 0;
	visit_branches(parts, &code, keep_candidate);
	for (size_t i = 0; i < parts->candidate_count && parts->count < parts->most; i++) {
		parts->back = 0;
		if (visit_branches(parts, &parts->candidate[i], leads_back))
			parts->range[parts->count++] = parts->candidate[i];
	}
}

size_t
python_eval_parts(const struct image *image, struct address_range *range, size_t count, size_t most)
{
	struct parts *parts = xmalloc(sizeof(*parts));

	*parts = (struct parts){
		.image = image, .range = range, .count = count, .most = most, .code_left = CODE_MOST
	};
	for (size_t i = 0; i < parts->count; i++)
		search_range(parts, i);
	count = parts->count;
	free(parts);
	return count;
}
