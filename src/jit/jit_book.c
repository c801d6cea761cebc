/* SPDX-License-Identifier: MIT */
/*
 * jit_book.c - the entries of one source, found by address and epoch.
 *
 * A treap by start address in which each node knows how far its subtree reaches and which entry
 * in it is the newest: entries come one by one in any order and overlap as they like, and
 * none is ever taken out.
 */
#include <string.h>

#include "jit/jit_source_internal.h"

/* 112 MiB of entries, plus their names. Real programs have far fewer. */
#define MAX_ENTRIES ((uint32_t)2 << 20)
/* Bytes of names and files, and overhead of each: a file may be rewritten without end. */
#define MAX_TEXT ((size_t)96 << 20)
#define TEXT_COST 48
#define MAX_LINES ((uint32_t)16 << 20)
/* Larger than what branches of any architecture reach across. */
#define MAX_CODE (UINT64_C(1) << 32)
/*
 * Who lays very many entries over one address gets any of them, or the same twice. A step
 * misses the cache.
 */
#define MAX_STEPS 8192
#define MAX_ADD_STEPS 128

struct entry {
	uint64_t start, end;
	uint64_t reach;  /* the highest end in the subtree */
	uint32_t newest; /* the highest number in the subtree */
	uint32_t left, right;
	uint32_t name;
	uint32_t epoch; /* grows with the number of the entry */
	struct jit_lines lines;
};

struct line {
	uint32_t offset, file, line;
};

struct jit_book {
	struct strings *strings;
	uint32_t *epoch;
	struct entry *entry;
	struct line *line;
	size_t count, capacity, line_count, line_capacity;
	size_t text;   /* bytes that its names and files take */
	uint64_t seed; /* of the priorities: random, so that a file cannot unbalance the tree */
	uint32_t root;
	bool settled; /* what is replaced in this pass begins no further epoch */
};

struct jit_book *
jit_book_create(struct strings *strings, uint32_t *epoch)
{
	struct jit_book *book = xcalloc(1, sizeof(*book));

	book->strings = strings;
	book->epoch = epoch;
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

/* What a subtree knows, by its root and what its parts know. */
static void
update_node(struct jit_book *book, uint32_t at)
{
	struct entry *entry = &book->entry[at];
	const uint32_t part[] = { entry->left, entry->right };

	entry->reach = entry->end;
	entry->newest = at;
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		const struct entry *below;

		if (part[i] == JIT_NONE)
			continue;
		below = &book->entry[part[i]];
		if (below->reach > entry->reach)
			entry->reach = below->reach;
		if (below->newest > entry->newest)
			entry->newest = below->newest;
	}
}

/* Splits a subtree into what starts at `start` or below, and above. */
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

static void
insert(struct jit_book *book, uint32_t fresh)
{
	struct entry *entry = &book->entry[fresh];
	uint64_t mine = priority(book, fresh);
	uint32_t *link = &book->root;

	while (*link != JIT_NONE && priority(book, *link) >= mine) {
		struct entry *above = &book->entry[*link];

		if (above->reach < entry->end)
			above->reach = entry->end;
		above->newest = fresh;
		link = entry->start < above->start ? &above->left : &above->right;
	}
	split(book, *link, entry->start, &entry->left, &entry->right);
	*link = fresh;
	update_node(book, fresh);
}

static bool
overlaps_any(const struct jit_book *book, uint64_t start, uint64_t end)
{
	uint32_t at = book->root;

	while (at != JIT_NONE) {
		const struct entry *entry = &book->entry[at];

		if (entry->start < end && start < entry->end)
			return true;
		/* If nothing on the left is hit, which reaches that far, nothing on the
		 * right is: all there starts behind. */
		at = entry->left != JIT_NONE && book->entry[entry->left].reach > start ?
			     entry->left :
			     entry->right;
	}
	return false;
}

struct stab { /* what lies at one address */
	uint64_t address;
	uint32_t epoch;
	uint32_t before, after; /* the last of the epoch or earlier, the first that is later */
	unsigned steps;         /* that may still be made */
};

/* May the subtree hold an answer, or a better one than there is? */
static bool
is_of_use(const struct jit_book *book, uint32_t at, const struct stab *stab_)
{
	return at != JIT_NONE && stab_->steps > 0 && book->entry[at].reach > stab_->address &&
	       (stab_->before == JIT_NONE || book->entry[at].newest > stab_->before);
}

static void
hit(const struct jit_book *book, uint32_t at, struct stab *stab_)
{
	if (book->entry[at].epoch > stab_->epoch)
		stab_->after = at < stab_->after ? at : stab_->after;
	else if (stab_->before == JIT_NONE || at > stab_->before)
		stab_->before = at;
}

/* Searches the newer part first: where code overlaps, the older part is then skipped. */
static void
stab(const struct jit_book *book, uint32_t at, struct stab *stab_)
{
	while (is_of_use(book, at, stab_)) {
		const struct entry *entry = &book->entry[at];
		uint32_t first = entry->right, second = entry->left;

		stab_->steps--;
		if (entry->start > stab_->address) {
			at = entry->left;
			continue;
		}
		if (entry->end > stab_->address)
			hit(book, at, stab_);
		if (first != JIT_NONE && second != JIT_NONE &&
		    book->entry[second].newest > book->entry[first].newest) {
			first = entry->left;
			second = entry->right;
		}
		stab(book, first, stab_);
		at = second;
	}
}

/* The number of the entry that names the address in the epoch, or JIT_NONE. */
static uint32_t
entry_at(const struct jit_book *book, uint64_t address, uint32_t epoch)
{
	struct stab found = {
		.address = address,
		.epoch = epoch,
		.before = JIT_NONE,
		.after = JIT_NONE,
		.steps = MAX_STEPS,
	};

	stab(book, book->root, &found);
	return found.before != JIT_NONE ? found.before : found.after;
}

/* The number of the entry that says the same of the same place as it is now, or JIT_NONE. */
static uint32_t
find_same(const struct jit_book *book, uint64_t start, uint64_t end, uint32_t name,
	  struct jit_lines lines)
{
	struct stab found = {
		.address = start,
		.epoch = UINT32_MAX,
		.before = JIT_NONE,
		.after = JIT_NONE,
		.steps = MAX_ADD_STEPS,
	};
	const struct entry *entry;

	stab(book, book->root, &found);
	if (found.before == JIT_NONE || found.steps == 0)
		return JIT_NONE;
	entry = &book->entry[found.before];
	return entry->start == start && entry->end == end && entry->name == name &&
			       entry->lines.count == 0 && lines.count == 0 ?
		       found.before :
		       JIT_NONE;
}

static uint32_t
add(struct jit_book *book, uint64_t start, uint64_t size, uint32_t name, struct jit_lines lines)
{
	const uint64_t end = start + size;
	uint32_t old = find_same(book, start, end, name, lines), fresh;

	if (old != JIT_NONE)
		return old;
	if (!book->settled && overlaps_any(book, start, end)) {
		++*book->epoch;
		book->settled = true;
	}
	fresh = (uint32_t)book->count++;
	book->entry = xgrow(book->entry, &book->capacity, book->count, sizeof(*book->entry));
	book->entry[fresh] = (struct entry){
		.start = start,
		.end = end,
		.left = JIT_NONE,
		.right = JIT_NONE,
		.name = name,
		.epoch = *book->epoch,
		.lines = lines,
	};
	insert(book, fresh);
	return fresh;
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

static bool
is_code_range(uint64_t start, uint64_t size)
{
	return size > 0 && size <= MAX_CODE && start <= UINT64_MAX - size;
}

uint32_t
jit_book_add(struct jit_book *book, uint64_t start, uint64_t size, const char *name,
	     struct jit_lines lines)
{
	if (!is_code_range(start, size) || jit_book_is_full(book))
		return JIT_NONE;
	return add(book, start, size, intern(book, name), lines);
}

uint32_t
jit_book_move(struct jit_book *book, uint32_t entry, uint64_t start, uint64_t size)
{
	if (entry >= book->count || !is_code_range(start, size) || jit_book_is_full(book))
		return JIT_NONE;
	return add(book, start, size, book->entry[entry].name, book->entry[entry].lines);
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

/* The last line that begins at the address or below, or NULL. */
static const struct line *
line_at(const struct jit_book *book, const struct entry *entry, uint64_t address)
{
	const uint64_t offset = address - entry->start;
	uint32_t low = 0, high = entry->lines.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (book->line[entry->lines.first + middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &book->line[entry->lines.first + low - 1] : NULL;
}

static void
tell(const struct jit_book *book, uint32_t number, uint64_t address, struct jit_symbol *out)
{
	const struct entry *entry = &book->entry[number];
	const struct line *line = line_at(book, entry, address);

	*out = (struct jit_symbol){
		.name = strings_text(book->strings, entry->name),
		.file = line != NULL ? strings_text(book->strings, line->file) : NULL,
		.line = line != NULL ? line->line : 0,
		.start = entry->start,
		.size = entry->end - entry->start,
	};
}

bool
jit_book_find(const struct jit_book *book, uint64_t address, uint32_t epoch, struct jit_symbol *out)
{
	uint32_t at = entry_at(book, address, epoch);

	if (at != JIT_NONE)
		tell(book, at, address, out);
	return at != JIT_NONE;
}

bool
jit_book_epoch_at(const struct jit_book *book, uint64_t address, uint32_t *epoch)
{
	uint32_t at = entry_at(book, address, UINT32_MAX);

	if (at != JIT_NONE)
		*epoch = book->entry[at].epoch;
	return at != JIT_NONE;
}

/* --- entries by where they begin -------------------------------------------------- */

static void
stab_starts(const struct jit_book *book, uint32_t at, const struct jit_starts *starts,
	    struct stab *stab_)
{
	while (is_of_use(book, at, stab_)) {
		const struct entry *entry = &book->entry[at];

		stab_->steps--;
		if (entry->start <= starts->after) {
			at = entry->right;
			continue;
		}
		if (entry->start - starts->after <= starts->reach) {
			if (entry->end - entry->start == starts->size &&
			    starts->fits(strings_text(book->strings, entry->name)))
				hit(book, at, stab_);
			stab_starts(book, entry->right, starts, stab_);
		}
		at = entry->left;
	}
}

uint32_t
jit_book_find_start(const struct jit_book *book, const struct jit_starts *starts, uint32_t epoch)
{
	struct stab found = {
		.epoch = epoch, .before = JIT_NONE, .after = JIT_NONE, .steps = MAX_STEPS
	};

	stab_starts(book, book->root, starts, &found);
	return found.before != JIT_NONE ? found.before : found.after;
}

void
jit_book_tell(const struct jit_book *book, uint32_t entry, struct jit_symbol *out)
{
	tell(book, entry, book->entry[entry].start, out);
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
