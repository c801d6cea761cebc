/* SPDX-License-Identifier: MIT */
/*
 * jit_book.c - the entries of one source, found by address and epoch.
 *
 * The entries form a treap, ordered by start address. Each node has the highest end address of the
 * entries in its subtree, and the number of that entry in the subtree that was added last. Entries
 * are added in any order, may overlap, and are never removed.
 */
#include <string.h>

#include "jit/jit_source_internal.h"

#include "wallsample/base/search.h"

/* Largest number of entries in a book; they take 112 MiB without their names. Real programs have
 * far fewer. */
#define MAX_ENTRIES ((uint32_t)2 << 20)
/* Limit in bytes of all names and file names that one book adds to the strings; each counts
 * TEXT_COST bytes in addition to its length. A target may write its file again and again, with
 * other names. */
#define MAX_TEXT ((size_t)96 << 20)
#define TEXT_COST 48
/* Largest number of source lines in a book. */
#define MAX_LINES ((uint32_t)16 << 20)
/* Largest size in bytes of the code of an entry: more than a direct branch of any architecture can
 * cross. */
#define MAX_CODE (UINT64_C(1) << 32)
/*
 * Largest number of nodes that one search visits, in jit_book_find and jit_book_find_start
 * (MAX_STEPS), and in jit_book_add (MAX_ADD_STEPS). Each node may cost a cache miss. A limit is
 * reached only at an address with very many overlapping entries, or where very many entries begin:
 * then the result of the search is the best entry visited so far, if any, and jit_book_add may add
 * an equal entry again.
 */
#define MAX_STEPS 8192
#define MAX_ADD_STEPS 128

struct entry {
	uint64_t start, end;
	uint64_t reach;       /* the highest end in the subtree */
	uint32_t newest;      /* the highest number of an entry in the subtree */
	uint32_t left, right; /* numbers of the children; JIT_NONE: no child */
	uint32_t name;        /* number of the name in the strings */
	/* epoch in which the entry was added: not below that of the entry with the preceding
	 * number */
	uint32_t epoch;
	struct jit_lines lines;
};

struct line {
	uint32_t offset; /* offset in bytes from the start of the entry */
	uint32_t file;   /* number of the file name in the strings */
	uint32_t line;
};

struct jit_book {
	struct strings *strings;
	struct jit_numbering *numbering;
	struct entry *entry;
	struct line *line;
	size_t count, capacity, line_count, line_capacity;
	size_t text;   /* bytes that count towards MAX_TEXT */
	uint64_t seed; /* makes priorities random, so that no file can unbalance the tree */
	uint32_t root; /* number of the root entry; JIT_NONE: the tree is empty */
	/* the present pass does not increment the epoch any more: it has done so already, or the
	 * book was empty when it began */
	bool settled;
};

struct jit_book *
jit_book_create(struct strings *strings, struct jit_numbering *numbering)
{
	struct jit_book *book = xcalloc(1, sizeof(*book));

	book->strings = strings;
	book->numbering = numbering;
	book->root = JIT_NONE;
	book->seed = hash_u64(clock_now_ns() ^ (uintptr_t)book);
	book->settled = true;
	return book;
}

void
jit_book_free(struct jit_book *book)
{
	if (book == NULL)
		return;
	free(book->entry);
	free(book->line);
	free(book);
}

void
jit_book_begin_pass(struct jit_book *book)
{
	book->settled = book->count == 0;
}

static uint64_t
priority(const struct jit_book *book, uint32_t entry)
{
	return hash_u64(book->seed ^ entry);
}

/* Sets `reach` and `newest` of a node from the node itself and from its children. */
static void
update_node(struct jit_book *book, uint32_t at)
{
	struct entry *entry = &book->entry[at];
	const uint32_t child[] = { entry->left, entry->right };

	entry->reach = entry->end;
	entry->newest = at;
	for (size_t i = 0; i < ARRAY_SIZE(child); i++) {
		const struct entry *below;

		if (child[i] == JIT_NONE)
			continue;
		below = &book->entry[child[i]];
		if (below->reach > entry->reach)
			entry->reach = below->reach;
		if (below->newest > entry->newest)
			entry->newest = below->newest;
	}
}

/* Splits the subtree of entry `at` into *low, the entries that begin at `start` or below, and
 * *high, those that begin above. */
static void
split(struct jit_book *book, uint32_t at, uint64_t start, uint32_t *low, uint32_t *high)
{
	if (at == JIT_NONE) {
		*low = *high = JIT_NONE;
		return;
	}
	if (book->entry[at].start <= start) {
		*low = at;
		split(book, book->entry[at].right, start, &book->entry[at].right, high);
	} else {
		*high = at;
		split(book, book->entry[at].left, start, low, &book->entry[at].left);
	}
	update_node(book, at);
}

/* Inserts entry `number`, which is the last one, into the tree. */
static void
insert(struct jit_book *book, uint32_t number)
{
	struct entry *entry = &book->entry[number];
	uint64_t own_priority = priority(book, number);
	uint32_t *link = &book->root;

	while (*link != JIT_NONE && priority(book, *link) >= own_priority) {
		struct entry *above = &book->entry[*link];

		if (above->reach < entry->end)
			above->reach = entry->end;
		above->newest = number;
		link = entry->start < above->start ? &above->left : &above->right;
	}
	split(book, *link, entry->start, &entry->left, &entry->right);
	*link = number;
	update_node(book, number);
}

static bool
overlaps_any(const struct jit_book *book, uint64_t start, uint64_t end)
{
	uint32_t at = book->root;

	while (at != JIT_NONE) {
		const struct entry *entry = &book->entry[at];

		if (entry->start < end && start < entry->end)
			return true;
		/* Suppose that the left subtree has an end beyond `start`, but no entry that
		 * overlaps. Then the entry with this end begins at `end` or above, and so do all
		 * entries of the right subtree, which need not be searched. */
		at = entry->left != JIT_NONE && book->entry[entry->left].reach > start ?
			     entry->left :
			     entry->right;
	}
	return false;
}

/* A search for the entry that was the current code in an epoch. "Newest" means the highest number,
 * "oldest" the lowest. */
struct search {
	uint64_t address;
	uint32_t epoch;
	uint32_t before; /* newest match whose epoch is `epoch` or earlier; JIT_NONE: none so far */
	uint32_t after;  /* oldest match whose epoch is later; JIT_NONE: none so far */
	unsigned steps;  /* number of nodes that may still be visited */
};

/* Returns true when the subtree of entry `at` may contain a better result than search->before, and
 * another node may be visited. */
static bool
is_worth_visiting(const struct jit_book *book, uint32_t at, const struct search *search)
{
	return at != JIT_NONE && search->steps > 0 && book->entry[at].reach > search->address &&
	       (search->before == JIT_NONE || book->entry[at].newest > search->before);
}

static void
take_match(const struct jit_book *book, uint32_t at, struct search *search)
{
	if (book->entry[at].epoch > search->epoch)
		search->after = at < search->after ? at : search->after;
	else if (search->before == JIT_NONE || at > search->before)
		search->before = at;
}

/* Searches the subtree of entry `at` for entries that contain the address. The child subtree with
 * the newest entry is searched first: where entries overlap, the other one is then often not worth
 * visiting. */
static void
search_address(const struct jit_book *book, uint32_t at, struct search *search)
{
	while (is_worth_visiting(book, at, search)) {
		const struct entry *entry = &book->entry[at];
		uint32_t first = entry->right, second = entry->left;

		search->steps--;
		if (entry->start > search->address) {
			at = entry->left;
			continue;
		}
		if (entry->end > search->address)
			take_match(book, at, search);
		if (first != JIT_NONE && second != JIT_NONE &&
		    book->entry[second].newest > book->entry[first].newest) {
			first = entry->left;
			second = entry->right;
		}
		search_address(book, first, search);
		at = second;
	}
}

static struct search
begin_search(uint64_t address, uint32_t epoch, unsigned steps)
{
	return (struct search){
		.address = address,
		.epoch = epoch,
		.before = JIT_NONE,
		.after = JIT_NONE,
		.steps = steps,
	};
}

static uint32_t
search_result(const struct search *search)
{
	return search->before != JIT_NONE ? search->before : search->after;
}

/* Returns the number of the current entry at `start` if it begins at `start`, ends at `end`, and
 * has this name and no lines; otherwise JIT_NONE. Also JIT_NONE when the search has reached its
 * limit. */
static uint32_t
find_same(const struct jit_book *book, uint64_t start, uint64_t end, uint32_t name)
{
	struct search search = begin_search(start, UINT32_MAX, MAX_ADD_STEPS);
	const struct entry *entry;

	search_address(book, book->root, &search);
	if (search.before == JIT_NONE || search.steps == 0)
		return JIT_NONE;
	entry = &book->entry[search.before];
	return entry->start == start && entry->end == end && entry->name == name &&
			       entry->lines.count == 0 ?
		       search.before :
		       JIT_NONE;
}

static uint32_t
intern(struct jit_book *book, const char *text)
{
	const size_t count = strings_count(book->strings);
	const uint32_t number = strings_intern(book->strings, text);

	if (strings_count(book->strings) > count)
		book->text += strlen(text) + TEXT_COST;
	return number;
}

uint32_t
jit_book_add(struct jit_book *book, uint64_t start, uint64_t size, const char *name,
	     struct jit_lines lines)
{
	const uint64_t end = start + size;
	uint32_t name_number, number;

	if (size == 0 || size > MAX_CODE || start > UINT64_MAX - size || jit_book_is_full(book))
		return JIT_NONE;
	name_number = intern(book, name);
	number = lines.count == 0 ? find_same(book, start, end, name_number) : JIT_NONE;
	if (number != JIT_NONE)
		return number;
	if (!book->settled && overlaps_any(book, start, end)) {
		jit_epoch_next(book->numbering);
		book->settled = true;
	}
	number = (uint32_t)book->count++;
	book->entry = xgrow(book->entry, &book->capacity, book->count, sizeof(*book->entry));
	book->entry[number] = (struct entry){
		.start = start,
		.end = end,
		.left = JIT_NONE,
		.right = JIT_NONE,
		.name = name_number,
		.epoch = book->numbering->epoch,
		.lines = lines,
	};
	insert(book, number);
	return number;
}

uint32_t
jit_book_move(struct jit_book *book, uint32_t entry, uint64_t start, uint64_t size)
{
	if (entry >= book->count)
		return JIT_NONE;
	return jit_book_add(book, start, size, strings_text(book->strings, book->entry[entry].name),
			    book->entry[entry].lines);
}

uint32_t
jit_book_add_line(struct jit_book *book, uint32_t offset, const char *file, uint32_t line)
{
	uint32_t number = (uint32_t)book->line_count;

	if (number == MAX_LINES || book->text >= MAX_TEXT)
		return JIT_NONE;
	book->line = xgrow(book->line, &book->line_capacity, ++book->line_count,
			   sizeof(*book->line));
	book->line[number] = (struct line){
		.offset = offset,
		.file = intern(book, file),
		.line = line,
	};
	return number;
}

size_t
jit_book_count(const struct jit_book *book)
{
	return book->count;
}

bool
jit_book_is_full(const struct jit_book *book)
{
	return book->count >= MAX_ENTRIES || book->text >= MAX_TEXT;
}

uint32_t
jit_book_find(const struct jit_book *book, uint64_t address, uint32_t epoch)
{
	struct search search = begin_search(address, epoch, MAX_STEPS);

	search_address(book, book->root, &search);
	return search_result(&search);
}

/* Searches the subtree of entry `at` for entries that `starts` describes. */
static void
search_starts(const struct jit_book *book, uint32_t at, const struct jit_starts *starts,
	      struct search *search)
{
	while (is_worth_visiting(book, at, search)) {
		const struct entry *entry = &book->entry[at];

		search->steps--;
		if (entry->start <= starts->after) {
			at = entry->right;
			continue;
		}
		if (entry->start - starts->after <= starts->reach) {
			if (entry->end - entry->start == starts->size &&
			    starts->fits(strings_text(book->strings, entry->name)))
				take_match(book, at, search);
			search_starts(book, entry->right, starts, search);
		}
		at = entry->left;
	}
}

uint32_t
jit_book_find_start(const struct jit_book *book, const struct jit_starts *starts, uint32_t epoch)
{
	struct search search = begin_search(0, epoch, MAX_STEPS);

	search_starts(book, book->root, starts, &search);
	return search_result(&search);
}

struct jit_entry
jit_book_entry(const struct jit_book *book, uint32_t entry)
{
	const struct entry *at = &book->entry[entry];

	return (struct jit_entry){
		.name = at->name,
		.epoch = at->epoch,
		.range = { at->start, at->end - at->start },
	};
}

/* Returns the source line of the code at the address, or NULL when the entry has no line for it. */
static const struct line *
line_at(const struct jit_book *book, const struct entry *entry, uint64_t address)
{
	const uint64_t offset = address - entry->start;
	const size_t first = entry->lines.first;
	size_t next;

	SEARCH_FIRST_NOT(next, entry->lines.count, book->line[first + next].offset <= offset);
	return next > 0 ? &book->line[first + next - 1] : NULL;
}

void
jit_book_describe(const struct jit_book *book, uint32_t entry, uint64_t address,
		  struct jit_symbol *out)
{
	const struct entry *at = &book->entry[entry];
	const struct line *line = line_at(book, at, address);

	*out = (struct jit_symbol){
		.name = strings_text(book->strings, at->name),
		.file = line != NULL ? strings_text(book->strings, line->file) : NULL,
		.line = line != NULL ? line->line : 0,
		.start = at->start,
		.size = at->end - at->start,
	};
}
