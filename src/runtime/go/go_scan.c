/* SPDX-License-Identifier: MIT */
/*
 * go_scan.c - finds the variables of Go's runtime in a program without symbols.
 *
 * The list of all goroutines is the slice whose first element is goroutine 1. The list of all
 * threads begins at a word that points to a thread. Other words may point to threads, too: up to
 * GO_HEADS_MOST such words are kept, and go_threads.c reads a list from each. The reasons to wait
 * are an array of strings, of which the first ones are the same in all versions.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/go/go_find_internal.h"

/* Bytes of a segment that are scanned at once. */
#define PIECE ((size_t)64 << 10)
/*
 * Most bytes of one segment that are scanned. Programs have some hundred kilobytes of variables,
 * but may have tables of gigabytes.
 */
#define SCAN_MOST (UINT64_C(256) << 20)
/* Number of words that may point to a thread, and are checked together. */
#define BATCH 256

void
go_scan_init(struct go_scan *scan, const struct runtime_tools *tools,
	     const struct go_layout *layout, const struct image *image, uint64_t bias)
{
	*scan = (struct go_scan){
		.tools = tools,
		.layout = layout,
		.image = image,
		.bias = bias,
	};
}

/* Returns true for an address outside of the module's image: allocated objects are outside. */
static bool
is_outside_image(const struct go_scan *scan, uint64_t address)
{
	return address - scan->bias - scan->image->low >= scan->image->high - scan->image->low;
}

static void
try_slice(struct go_scan *scan, uint64_t address, const uint64_t word[3])
{
	if (scan->all == 0 && go_fit_is_slice(word) && is_outside_image(scan, word[0]) &&
	    go_fit_all(scan->tools, scan->layout, address, true) == FINDER_FIT_GOOD)
		scan->all = address;
}

/* --- reasons ----------------------------------------------------------------------------- */

static const char *const first_reasons[] = { "", "GC assist marking", "IO wait" };
#define REASON_MOST 32
#define REASON_WORDS (2 * ARRAY_SIZE(first_reasons))

static bool
has_text(const struct memory *memory, uint64_t address, const char *text)
{
	char there[REASON_MOST];
	const size_t length = strlen(text);

	return length == 0 ||
	       (memory_read(memory, address, there, length) && memcmp(there, text, length) == 0);
}

static void
try_reasons(struct go_scan *scan, uint64_t address, const uint64_t word[REASON_WORDS])
{
	for (size_t i = 0; i < ARRAY_SIZE(first_reasons); i++)
		if (word[2 * i + 1] != strlen(first_reasons[i]) ||
		    !has_text(&scan->tools->memory, word[2 * i], first_reasons[i]))
			return;
	if (scan->reasons == 0)
		scan->reasons = address;
}

/* --- threads ----------------------------------------------------------------------------- */

struct batch {
	uint64_t at[BATCH]; /* addresses of the words */
	struct memory_piece piece[BATCH];
	size_t count;
	bool got[BATCH];
	uint8_t bytes[BATCH * GO_M_MOST];
};

/* Returns true for the tid of a live thread, and for 0: a thread that has not begun has no tid. */
static bool
may_be_alive(const struct go_scan *scan, uint64_t tid)
{
	const struct runtimes_config *config = scan->tools->config;

	return tid == 0 || (tid <= INT32_MAX && config->thread(config->context, (pid_t)tid) > 0);
}

static void
try_batch(struct go_scan *scan, struct batch *batch)
{
	const struct go_layout *layout = scan->layout;
	const uint8_t *bytes = batch->bytes;

	runtime_read_pieces(scan->tools, batch->piece, batch->count, batch->bytes, batch->got);
	for (size_t i = 0; i < batch->count; i++) {
		if (batch->got[i] && scan->head_count < GO_HEADS_MOST &&
		    may_be_alive(scan, member_u64(bytes, layout->m_tid)) &&
		    go_fit_thread(scan->tools, layout, batch->piece[i].address, bytes))
			scan->head[scan->head_count++] = batch->at[i];
		bytes += batch->piece[i].size;
	}
	batch->count = 0;
}

static void
try_thread(struct go_scan *scan, struct batch *batch, uint64_t address, uint64_t word)
{
	if (scan->head_count == GO_HEADS_MOST || word < MEMORY_PAGE || word % sizeof(word) != 0 ||
	    word >= UINT64_C(1) << 56)
		return;
	batch->at[batch->count] = address;
	batch->piece[batch->count++] = (struct memory_piece){ .address = word,
							      .size = scan->layout->m_size };
	if (batch->count == BATCH)
		try_batch(scan, batch);
}

/* --- pieces ------------------------------------------------------------------------------ */

/* Number of words that are read in addition to a piece, after its end: the checks of a word also
 * look at this number of words behind it. */
#define BEHIND (REASON_WORDS - 1)
#define PIECE_WORDS (PIECE / sizeof(uint64_t))

/*
 * Checks `count` words, of which the first is at `address` in the target. In the part of the
 * segment that the file contains (`in_file`) it looks only for the array of reasons to wait, and
 * in the other part only for the lists of goroutines and threads: these variables are zero at
 * first, and so not in the file.
 */
static void
scan_words(struct go_scan *scan, struct batch *batch, uint64_t address, const uint64_t *word,
	   size_t count, bool in_file)
{
	for (size_t i = 0; i < count; i++, address += sizeof(*word)) {
		if (in_file && word[i + 1] == 0 && word[i + 3] != 0) {
			try_reasons(scan, address, &word[i]);
		} else if (!in_file && word[i] != 0) {
			try_slice(scan, address, &word[i]);
			try_thread(scan, batch, address, word[i]);
		}
	}
}

static void
scan_piece(struct go_scan *scan, struct batch *batch, const struct image_segment *segment)
{
	uint64_t word[PIECE_WORDS + BEHIND] = { 0 };
	const uint64_t start = segment->vaddr + scan->at;
	const bool in_file = scan->at < segment->file_size;
	uint64_t end = in_file ? segment->file_size : segment->mem_size;
	struct memory_piece piece = { .address = scan->bias + start };
	bool got;

	if (end - scan->at > PIECE)
		end = scan->at + PIECE;
	piece.size = (size_t)(segment->mem_size - scan->at);
	if (piece.size > sizeof(word))
		piece.size = sizeof(word);
	runtime_read_pieces(scan->tools, &piece, 1, (uint8_t *)word, &got);
	if (got)
		scan_words(scan, batch, piece.address, word,
			   (size_t)(end - scan->at) / sizeof(*word), in_file);
	/* Data that the file does not contain may begin at any address; words are aligned. */
	scan->at = end + (sizeof(*word) - (segment->vaddr + end) % sizeof(*word)) % sizeof(*word);
}

bool
go_scan_step(struct go_scan *scan, uint64_t *budget)
{
	struct batch *batch = xcalloc(1, sizeof(*batch));

	while (*budget > 0 && scan->segment < scan->image->segment_count) {
		const struct image_segment *segment = &scan->image->segment[scan->segment];

		if (!segment->writable || segment->executable || scan->at >= segment->mem_size ||
		    scan->at >= SCAN_MOST) {
			scan->segment++;
			scan->at = 0;
			continue;
		}
		scan_piece(scan, batch, segment);
		*budget -= PIECE < *budget ? PIECE : *budget;
	}
	try_batch(scan, batch);
	free(batch);
	return scan->segment == scan->image->segment_count;
}
