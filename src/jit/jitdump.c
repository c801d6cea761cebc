/* SPDX-License-Identifier: MIT */
/* jitdump.c - reads jitdump files (jit-PID.dump): records of code with source lines, in a file that
 * the target has mapped so that profilers find it
 * (tools/perf/Documentation/jitdump-specification.txt in Linux). */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/jit_source_internal.h"
#include "wallsample/base/file_proxy.h"
#include "wallsample/base/bytes.h"

#define MAGIC 0x4A695444u
#define MAGIC_SWAPPED 0x4454694Au /* the magic number in a file of the other byte order */
/* Sizes in bytes. Those of records include the header of the record. */
#define HEADER_SIZE 40      /* the header of the file */
#define RECORD_SIZE 16      /* the header of a record */
#define LOAD_SIZE 56        /* a CODE_LOAD record before its name */
#define MOVE_SIZE 64        /* a CODE_MOVE record */
#define DEBUG_SIZE 32       /* a CODE_DEBUG_INFO record before its first line */
#define DEBUG_ENTRY_SIZE 16 /* a line of CODE_DEBUG_INFO before its file name */
/* V8 writes addresses of lines that are larger than the true ones by V8_SHIFT, as if an ELF header
 * preceded the code. Files of V8 have V8_PADDING in the field for padding of their headers. */
#define V8_PADDING 0xDEADBEEFu
#define V8_SHIFT 0x40

#define MAX_FILES 64
/* Bytes of a file that are read at once, if a record does not need more. */
#define WINDOW ((size_t)16 << 10)
/* MAX_CONTENT: most bytes of a name, and of a CODE_DEBUG_INFO record (larger ones count as
 * damaged). MAX_RECORD: most bytes of a record. MAX_RECORDS: most records that are read of one
 * file. */
#define MAX_CONTENT ((size_t)1 << 20)
#define MAX_RECORD ((uint32_t)256 << 20)
#define MAX_RECORDS ((uint64_t)32 << 20)

enum record_id { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

struct line {
	uint64_t offset; /* offset in bytes from the start of the function */
	uint32_t line;
	const char *file; /* points into dump->debug */
};

struct dump {
	char *path;
	uint64_t dev, inode;
	int fd; /* -1: the file could not be opened */
	/* offset of the next record in the file; 0: the header of the file was not read yet */
	uint64_t offset;
	bool early;   /* the next record is incomplete, but its function has already been added */
	bool shifted; /* the file is one of V8: see V8_SHIFT */
	const char *broken; /* why no more of this file can be read; NULL: it can be read */
	uint64_t records;   /* number of records that were read */
	uint64_t bad;       /* number of records that are damaged */
	bool unread;        /* the last call of read_dump() did not reach the end of the file */
	bool warned;        /* the warning about the file was written */
	/* the last CODE_DEBUG_INFO record, which describes the code of the next CODE_LOAD record;
	 * empty: there is none */
	struct strbuf debug;
};

struct jitdump {
	const struct jit_target *target;
	struct jit_book *book;
	struct dump *dump;
	size_t count, capacity;
	uint64_t generation; /* generation of the maps at the last search; 0: not searched yet */
	/* (index in `dump`, code_index of a CODE_LOAD record) -> number of the entry in the book */
	struct table entries;
	struct line *line; /* the lines of one function */
	size_t line_capacity;
	/* A copy of a part of the file that is being read. */
	char *window;
	size_t window_capacity, window_size;
	uint64_t window_offset; /* offset of the window in the file */
	size_t fetched;         /* bytes that were read in this call of jitdump_read() */
};

static void *
jitdump_create(const struct jit_target *target, struct jit_book *book)
{
	struct jitdump *state = xcalloc(1, sizeof(*state));

	state->target = target;
	state->book = book;
	table_init(&state->entries);
	return state;
}

static void
jitdump_release(void *state)
{
	struct jitdump *all = state;

	for (size_t i = 0; i < all->count; i++) {
		if (all->dump[i].fd >= 0)
			close(all->dump[i].fd);
		free(all->dump[i].path);
		strbuf_release(&all->dump[i].debug);
	}
	table_release(&all->entries);
	free(all->dump);
	free(all->line);
	free(all->window);
	free(all);
}

/* Returns true when the name is "jit-", digits and ".dump". */
static bool
is_dump_name(const char *name)
{
	size_t digits;

	if (strncmp(name, "jit-", 4) != 0)
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits > 0 && strcmp(name + 4 + digits, ".dump") == 0;
}

static bool
dump_is_known(const struct jitdump *all, const struct module *module)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->dump[i].dev == module->dev && all->dump[i].inode == module->inode)
			return true;
	return false;
}

static void
add_dump(struct jitdump *all, const struct mapping *mapping, const struct module *module)
{
	struct strbuf path = STRBUF_INIT;
	struct dump *dump;
	const char *why;
	struct stat st;

	all->dump = xgrow(all->dump, &all->capacity, all->count + 1, sizeof(*all->dump));
	dump = &all->dump[all->count++];
	memset(dump, 0, sizeof(*dump));
	strbuf_add_escaped(&path, module->path);
	dump->path = path.data;
	dump->dev = module->dev;
	dump->inode = module->inode;
	dump->fd = jit_file_open_mapped(all->target, mapping, &st, &why);
	if (dump->fd < 0)
		log_say(all->target->log, LOG_NORMAL, "%s names no code: %s", dump->path, why);
}

static void
jitdump_search(void *state)
{
	struct jitdump *all = state;
	struct maps *maps = all->target->maps;

	if (all->generation == maps_generation(maps))
		return;
	all->generation = maps_generation(maps);
	for (size_t i = 0; i < maps_count(maps) && all->count < MAX_FILES; i++) {
		const struct mapping *mapping = maps_at(maps, i);
		const struct module *module = modules_at(maps_modules(maps), mapping->module);

		if (module->kind == MODULE_OTHER && is_dump_name(module->name) &&
		    !dump_is_known(all, module))
			add_dump(all, mapping, module);
	}
}

/* Returns `size` bytes of the file from `offset` on, valid until the next call; NULL when the file
 * ends before, or cannot be read. */
static const char *
dump_bytes(struct jitdump *all, const struct dump *dump, uint64_t offset, size_t size)
{
	if (offset >= all->window_offset && offset - all->window_offset + size <= all->window_size)
		return all->window + (offset - all->window_offset);
	all->window = xgrow(all->window, &all->window_capacity, size > WINDOW ? size : WINDOW, 1);
	all->window_offset = offset;
	all->window_size = file_proxy_read(jit_target_proxy(all->target), dump->dev, dump->fd,
					   offset, all->window, size > WINDOW ? size : WINDOW);
	all->fetched += all->window_size;
	return size <= all->window_size ? all->window : NULL;
}

/* Reads the header of the file. Returns false when the header is incomplete, or when the file
 * cannot be used; in the latter case dump->broken is set. */
static bool
dump_read_header(struct jitdump *all, struct dump *dump)
{
	const char *header = dump_bytes(all, dump, 0, HEADER_SIZE);
	uint32_t magic;

	if (header == NULL)
		return false;
	magic = bytes_u32(header);
	if (magic == MAGIC_SWAPPED)
		dump->broken = "it is of a machine with the other byte order";
	else if (magic != MAGIC)
		dump->broken = "it is no jitdump file";
	else if (bytes_u32(header + 4) != 1)
		dump->broken = "its version is not known";
	else if (bytes_u32(header + 8) < HEADER_SIZE || bytes_u32(header + 8) > WINDOW)
		dump->broken = "its header is damaged";
	if (dump->broken != NULL)
		return false;
	dump->offset = bytes_u32(header + 8);
	dump->shifted = bytes_u32(header + 16) == V8_PADDING;
	return true;
}

static int
compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Decodes the record in dump->debug, and stores its lines in all->line, for the function at [start,
 * start + size). Returns the number of lines; 0 when one of them is damaged. */
static size_t
collect_lines(struct jitdump *all, struct dump *dump, uint64_t start, uint64_t size)
{
	const char *at = dump->debug.data + DEBUG_SIZE, *file = NULL;
	const char *end = dump->debug.data + dump->debug.length;
	uint64_t left = bytes_u64(dump->debug.data + RECORD_SIZE + 8);
	const uint64_t shift = dump->shifted ? V8_SHIFT : 0;
	size_t count = 0;

	for (; left > 0 && end - at > DEBUG_ENTRY_SIZE; left--) {
		const char *name = at + DEBUG_ENTRY_SIZE;
		const char *zero = memchr(name, '\0', (size_t)(end - name));
		uint64_t offset = bytes_u64(at) - shift - start;

		if (zero == NULL)
			break;
		/* The name "\xff" stands for the file name of the previous line. */
		if (strcmp(name, "\xff") != 0)
			file = name;
		/* V8 writes some names with missing or additional bytes; all lines after such a
		 * name are invalid. */
		if (offset >= size || file == NULL || *file == '\0')
			break;
		all->line = xgrow(all->line, &all->line_capacity, count + 1, sizeof(*all->line));
		all->line[count++] = (struct line){
			.offset = offset,
			.line = bytes_u32(at + 8),
			.file = file,
		};
		at = zero + 1;
	}
	return left == 0 ? count : 0;
}

/* Adds the lines of the record in dump->debug to the book, if its code address is `start`. Returns
 * their range, which is empty when no line was added. */
static struct jit_lines
take_lines(struct jitdump *all, struct dump *dump, uint64_t start, uint64_t size)
{
	struct jit_lines lines = { 0, 0 };
	size_t count;

	if (dump->debug.length == 0 || bytes_u64(dump->debug.data + RECORD_SIZE) != start)
		return lines;
	count = collect_lines(all, dump, start, size);
	if (count > 1)
		qsort(all->line, count, sizeof(*all->line), compare_lines);
	for (size_t i = 0; i < count && all->line[i].offset <= UINT32_MAX; i++) {
		const struct line *line = &all->line[i];
		uint32_t number = jit_book_add_line(all->book, (uint32_t)line->offset, line->file,
						    line->line);

		if (number == JIT_NONE)
			break;
		if (lines.count++ == 0)
			lines.first = number;
	}
	return lines;
}

/* Adds the function of the CODE_LOAD record at dump->offset, of which `size` bytes are in the file.
 * Returns false when the record is damaged, or its name is not complete in these bytes. */
static bool
take_load(struct jitdump *all, struct dump *dump, uint32_t size)
{
	/* numbers of bytes to read: the second is tried only if the bytes of the first do not
	 * contain the whole name, which is rare */
	static const size_t most[] = { WINDOW / 4, MAX_CONTENT };
	const char *record = NULL;
	uint64_t start, code_size, index;
	uint32_t entry;

	for (size_t i = 0; i < ARRAY_SIZE(most) && record == NULL && size > LOAD_SIZE; i++) {
		const size_t seen = size < most[i] ? size : most[i];

		record = dump_bytes(all, dump, dump->offset, seen);
		if (record != NULL && memchr(record + LOAD_SIZE, '\0', seen - LOAD_SIZE) == NULL)
			record = NULL;
	}
	if (record == NULL)
		return false;
	start = bytes_u64(record + 32);
	code_size = bytes_u64(record + 40);
	index = bytes_u64(record + 48);
	if (code_size == 0 || record[LOAD_SIZE] == '\0')
		return true;
	entry = jit_book_add(all->book, start, code_size, record + LOAD_SIZE,
			     take_lines(all, dump, start, code_size));
	if (entry == JIT_NONE)
		return jit_book_is_full(all->book);
	*table_insert(&all->entries, (uint64_t)(dump - all->dump), index, 0, NULL) = entry;
	return true;
}

/* Adds the function of a CODE_MOVE record at its new address. Returns false when the record is
 * damaged, or its function is not known. */
static bool
take_move(struct jitdump *all, struct dump *dump, uint32_t size)
{
	const char *record = dump_bytes(all, dump, dump->offset, MOVE_SIZE);
	const uint64_t number = (uint64_t)(dump - all->dump);
	uint32_t entry;

	if (record == NULL || size < MOVE_SIZE ||
	    !table_find(&all->entries, number, bytes_u64(record + 56), &entry))
		return false;
	entry = jit_book_move(all->book, entry, bytes_u64(record + 40), bytes_u64(record + 48));
	if (entry == JIT_NONE)
		return jit_book_is_full(all->book);
	*table_insert(&all->entries, number, bytes_u64(record + 56), 0, NULL) = entry;
	return true;
}

/* Copies a CODE_DEBUG_INFO record to dump->debug, for the next CODE_LOAD record. Returns false when
 * the record is damaged, or larger than MAX_CONTENT. */
static bool
keep_debug(struct jitdump *all, struct dump *dump, uint32_t size)
{
	const char *record = size <= MAX_CONTENT ? dump_bytes(all, dump, dump->offset, size) : NULL;

	strbuf_clear(&dump->debug);
	if (record == NULL || size < DEBUG_SIZE)
		return false;
	strbuf_add(&dump->debug, record, size);
	return true;
}

/* Handles a record that is complete in the file. Counts it in dump->records, and, if it is damaged,
 * in dump->bad. */
static void
take_record(struct jitdump *all, struct dump *dump, uint32_t id, uint32_t size)
{
	bool good = true;

	dump->records++;
	switch (id) {
	case CODE_LOAD:
		good = take_load(all, dump, size);
		strbuf_clear(&dump->debug);
		break;
	case CODE_MOVE:
		good = take_move(all, dump, size);
		break;
	case CODE_DEBUG_INFO:
		good = keep_debug(all, dump, size);
		break;
	default:
		/* Ignored: unwind tables (CODE_UNWINDING_INFO), the end of the file (CODE_CLOSE),
		 * and records of later versions. */
		break;
	}
	dump->bad += !good;
}

/* Handles the last record of the file, of which only `size` bytes are in the file yet: a program
 * buffers what it writes. The function of a CODE_LOAD record is added if its whole name is in the
 * file, because code that was generated last often runs for a long time. */
static void
take_early(struct jitdump *all, struct dump *dump, uint32_t id, uint64_t size)
{
	if (id != CODE_LOAD || dump->early || !take_load(all, dump, (uint32_t)size))
		return;
	dump->early = true;
	strbuf_clear(&dump->debug);
}

/* Reads records until all->fetched reaches the budget, but at least one record. Returns true when
 * no complete record is left, or the file cannot be read further (broken, or the book is full). */
static bool
read_dump(struct jitdump *all, struct dump *dump, size_t budget)
{
	struct stat st;
	uint64_t end;

	if (dump->fd < 0 || dump->broken != NULL || file_stat_cached(dump->fd, &st) != 0)
		return true;
	end = (uint64_t)st.st_size;
	if (end < dump->offset)
		dump->broken = "it has become shorter";
	if (dump->offset >= end)
		return true;
	/* The window is discarded: it may be a copy of another file, or of this file before it
	 * grew. */
	all->window_size = 0;
	if (dump->offset == 0 && !dump_read_header(all, dump))
		return true;
	while (end >= dump->offset && end - dump->offset >= RECORD_SIZE) {
		const char *record = dump_bytes(all, dump, dump->offset, RECORD_SIZE);
		uint32_t id, size;

		if (record == NULL)
			break;
		id = bytes_u32(record);
		size = bytes_u32(record + 4);
		if (size < RECORD_SIZE || size > MAX_RECORD)
			dump->broken = "a record has a size that cannot be";
		else if (dump->records >= MAX_RECORDS)
			dump->broken = "it has too many records";
		if (dump->broken != NULL)
			break;
		if (jit_book_is_full(all->book))
			break;
		if (size > end - dump->offset) {
			take_early(all, dump, id, end - dump->offset);
			break;
		}
		if (!dump->early)
			take_record(all, dump, id, size);
		dump->records += dump->early;
		dump->early = false;
		dump->offset += size;
		if (all->fetched >= budget)
			return false;
	}
	return true;
}

static bool
jitdump_read(void *state, size_t budget)
{
	struct jitdump *all = state;
	bool whole = true;

	/* At least one record of each file is read, even when the files before it have used up the
	 * budget. */
	all->fetched = 0;
	for (size_t i = 0; i < all->count; i++) {
		all->dump[i].unread = !read_dump(all, &all->dump[i], budget);
		whole &= !all->dump[i].unread;
	}
	return whole;
}

static void
jitdump_warn(void *state, bool slow)
{
	struct jitdump *all = state;
	const struct log *log = all->target->log;

	for (size_t i = 0; i < all->count; i++) {
		struct dump *dump = &all->dump[i];
		const char *why = dump->broken;

		if (why == NULL && jit_book_is_full(all->book))
			why = "it has too many records";
		if (why == NULL && slow && dump->unread)
			why = "the rest takes too long";
		if (dump->warned || (why == NULL && dump->bad == 0))
			continue;
		dump->warned = true;
		if (why != NULL)
			log_say(log, LOG_NORMAL, "%s is read up to its record %" PRIu64 ": %s",
				dump->path, dump->records, why);
		else
			log_say(log, LOG_NORMAL,
				"%s: %" PRIu64 " of %" PRIu64 " records are damaged and left out",
				dump->path, dump->bad, dump->records);
	}
}

const struct jit_source jit_by_jitdump = {
	.create = jitdump_create,
	.free = jitdump_release,
	.search = jitdump_search,
	.read = jitdump_read,
	.warn = jitdump_warn,
};
