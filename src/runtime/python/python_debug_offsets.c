/* SPDX-License-Identifier: MIT */
/*
 * python_debug_offsets.c - reads the layouts that CPython publishes in the target's memory: struct
 * _Py_DebugOffsets at the beginning of _PyRuntime (3.13 and later,
 * Include/internal/pycore_debug_offsets.h), and struct _Py_AsyncioModuleDebugOffsets in the module
 * _asyncio (3.14 and later, Modules/_asynciomodule.c).
 *
 * Both consist of 64-bit words: for each structure of CPython its size, then offsets of members.
 * Each version adds words and keeps the order of the others. Because the words come from the
 * target's memory, each offset is checked against the size of the structure that it points into;
 * this also detects an unknown order.
 */
#include <string.h>

#include "runtime/python/python_internal.h"
#include "wallsample/base/bytes.h"

/* The members in which read_words() stores the words, and the state of read_words(). */
struct published {
	struct python_layout layout;
	struct python_task_layout tasks;
	uint32_t gil;        /* offset of the lock in PyInterpreterState */
	uint32_t frame_size; /* bytes of _PyInterpreterFrame */
	/* interpreter_size of `tasks`, as _asyncio publishes it */
	uint32_t asyncio_interpreter_size;
	uint32_t list_next, list_previous; /* offsets in struct llist_node */
	uint32_t other;                    /* a word that is checked and not used */
	uint64_t size;                     /* bytes of the current structure */
	bool in_tasks;                     /* the size of the current structure was a TASK_SIZE */
	/* a word was not plausible: [1] in a structure with a TASK_SIZE, [0] in another one */
	bool invalid[2];
};

#define LAYOUT(name) offsetof(struct published, layout.name)
#define TASKS(name) offsetof(struct published, tasks.name)
#define OWN(name) offsetof(struct published, name)

/* The meaning of a word. END, BYTE and WORD: the word is the offset of a member, of which 0, 1 or 8
 * bytes must be inside of the current structure. */
enum meaning {
	/* offset of an array, which may begin where the structure ends, or of a member whose size
	 * is not checked */
	END = 0,
	BYTE = 1,
	WORD = 8,
	SIZE, /* the word is the size of the structure whose members follow */
	/* as SIZE, for a structure that only `tasks` needs; at most PYTHON_TASK_PART_MOST */
	TASK_SIZE,
	SKIP, /* one or more words that are not read */
};

struct row {
	uint8_t meaning;
	uint8_t since; /* first minor version that has the word; no version has removed a word */
	/* offset in struct published at which the word is stored; SKIP: number of words */
	uint16_t to;
};

/* The words of _Py_DebugOffsets, in their order. Comments give the names in CPython of structures,
 * and of members that are skipped. */
/* clang-format off */
static const struct row offsets[] = {
	{ SKIP, 13, 3 }, /* cookie, version, free_threaded */
	{ SIZE, 13, OWN(other) }, /* runtime_state */
	{ BYTE, 13, OWN(other) }, { BYTE, 13, LAYOUT(runtime_interpreters) },
	{ SIZE, 13, TASKS(interpreter_size) },
	{ BYTE, 13, LAYOUT(interpreter_id) }, { BYTE, 13, LAYOUT(interpreter_next) },
	{ BYTE, 13, LAYOUT(interpreter_threads) }, { SKIP, 14, 1 }, /* threads_main */
	{ SKIP, 13, 4 }, /* gc, imports_modules, sysdict, builtins */
	{ BYTE, 13, LAYOUT(interpreter_gil) }, { BYTE, 13, OWN(gil) },
	{ BYTE, 13, LAYOUT(gil_enabled) }, { BYTE, 13, LAYOUT(gil_locked) },
	{ BYTE, 13, LAYOUT(gil_holder) },
	{ SKIP, 14, 2 }, /* code_object_generation, tlbc_generation */
	{ SIZE, 13, OWN(other) }, /* thread_state */
	{ BYTE, 13, LAYOUT(thread_previous) }, { BYTE, 13, LAYOUT(thread_next) },
	{ BYTE, 13, LAYOUT(thread_interpreter) }, { BYTE, 13, LAYOUT(thread_frame) },
	{ SKIP, 15, 3 }, /* base_frame, last_profiled_frame, last_profiled_frame_seq */
	{ BYTE, 13, LAYOUT(thread_pthread) }, { BYTE, 13, LAYOUT(thread_native) },
	{ SKIP, 13, 1 }, /* datastack_chunk */
	{ BYTE, 13, LAYOUT(thread_state) }, /* status, see state_behind_status() */
	{ SKIP, 15, 4 }, /* holds_gil, gil_requested, current_exception, exc_state */
	{ SKIP, 15, 1 }, /* err_stackitem */
	{ SIZE, 13, OWN(frame_size) }, /* interpreter_frame */
	{ BYTE, 13, LAYOUT(frame_previous) }, { BYTE, 13, LAYOUT(frame_code) },
	{ BYTE, 13, LAYOUT(frame_instruction) }, { END, 13, TASKS(frame_locals) },
	{ BYTE, 13, LAYOUT(frame_owner) }, { BYTE, 14, TASKS(frame_stack) },
	{ BYTE, 14, LAYOUT(frame_bytecode_index) },
	{ SIZE, 13, OWN(other) }, /* code_object */
	{ BYTE, 13, LAYOUT(code_filename) }, { BYTE, 13, LAYOUT(code_name) },
	{ BYTE, 13, LAYOUT(code_qualified_name) }, { BYTE, 13, LAYOUT(code_line_table) },
	{ BYTE, 13, LAYOUT(code_first_line) },
	{ SKIP, 13, 3 }, /* argcount, localsplusnames, localspluskinds */
	{ END, 13, LAYOUT(code_instructions) }, { BYTE, 14, LAYOUT(code_bytecodes) },
	{ SIZE, 13, TASKS(object_size) }, { BYTE, 13, LAYOUT(object_type) },
	{ SIZE, 13, OWN(other) }, { BYTE, 13, LAYOUT(type_name) }, /* type_object */
	{ SKIP, 13, 2 }, /* tp_repr, tp_flags */
	{ SKIP, 15, 2 }, /* tp_basicsize, tp_dictoffset */
	{ SKIP, 15, 2 }, /* heap_type_object */
	{ SKIP, 13, 6 }, /* tuple_object, list_object */
	{ TASK_SIZE, 14, OWN(other) }, { END, 14, OWN(other) }, /* set_object: used, table, mask */
	{ END, 14, TASKS(set_table) }, { END, 14, TASKS(set_mask) },
	{ SKIP, 13, 5 }, /* dict_object, float_object */
	{ TASK_SIZE, 13, OWN(other) }, /* long_object */
	{ END, 13, TASKS(long_tag) }, { END, 13, TASKS(long_digits) },
	{ SIZE, 13, OWN(other) }, /* bytes_object */
	{ BYTE, 13, LAYOUT(bytes_size) }, { END, 13, LAYOUT(bytes_data) },
	{ SIZE, 13, OWN(other) }, /* unicode_object */
	{ BYTE, 13, LAYOUT(text_state) }, { BYTE, 13, LAYOUT(text_length) },
	{ END, 13, LAYOUT(text_ascii) }, { END, 15, LAYOUT(text_compact) },
	{ SKIP, 13, 2 }, { SKIP, 15, 3 }, /* gc: frame, generation_stats_size, generation_stats */
	{ TASK_SIZE, 14, OWN(other) }, { END, 14, OWN(other) }, /* gen_object: gi_name */
	{ END, 14, TASKS(generator_frame) }, { END, 14, TASKS(generator_state) },
	{ END, 14, OWN(list_next) }, { END, 14, OWN(list_previous) }, /* llist_node */
};

static const struct row asyncio[] = {
	{ TASK_SIZE, 14, TASKS(size) }, { WORD, 14, TASKS(name) },
	{ WORD, 14, TASKS(awaited_by) }, { BYTE, 14, TASKS(is_task) },
	{ BYTE, 14, TASKS(awaited_by_is_set) }, { WORD, 14, TASKS(coroutine) },
	{ WORD, 14, TASKS(node) },
	{ SIZE, 14, OWN(asyncio_interpreter_size) }, { BYTE, 14, TASKS(interpreter_tasks) },
	{ SIZE, 14, OWN(other) }, { SKIP, 14, 1 }, /* thread: size, running loop */
	{ BYTE, 14, TASKS(thread_running) }, { BYTE, 14, TASKS(thread_tasks) },
};
/* clang-format on */

/* Largest plausible size of a structure. _PyRuntimeState has 300 KiB, PyInterpreterState 220 KiB;
 * both may grow. */
#define SIZE_MOST (UINT64_C(16) << 20)

/* Bytes that PyCompactUnicodeObject has in addition to PyASCIIObject: a length and a pointer. */
#define COMPACT_MORE 16

/* Members of struct _gil_runtime_state that are read have offsets below this bound. */
#define LOCK_MOST 64

/* --- words ------------------------------------------------------------------------------- */

/* Stores a word at the place that `row` gives, and sets to->invalid when it is not plausible. */
static void
take_word(struct published *to, const struct row *row, uint64_t word)
{
	const uint32_t value = (uint32_t)word; /* a word that does not fit is refused below */
	bool valid;

	if (row->meaning == SIZE || row->meaning == TASK_SIZE) {
		to->in_tasks = row->meaning == TASK_SIZE;
		to->size = word;
		valid = word > 0 && word <= (to->in_tasks ? PYTHON_TASK_PART_MOST : SIZE_MOST);
	} else {
		valid = word <= to->size && to->size - word >= row->meaning;
	}
	to->invalid[to->in_tasks] |= !valid;
	memcpy((char *)to + row->to, &value, sizeof(value));
}

/* Reads the words of all rows that this minor version has from `bytes`. Returns false when the rows
 * need more than `size` bytes. */
static bool
read_words(const struct row *row, size_t rows, const uint8_t *bytes, size_t size, unsigned minor,
	   struct published *to)
{
	for (const struct row *end = row + rows; row < end; row++) {
		const size_t width = (row->meaning == SKIP ? row->to : 1) * sizeof(uint64_t);

		if (minor < row->since)
			continue;
		if (size < width)
			return false;
		if (row->meaning != SKIP)
			take_word(to, row, bytes_u64(bytes));
		bytes += width;
		size -= width;
	}
	return true;
}

bool
python_offsets_version(const void *bytes, size_t size, uint64_t *version)
{
	const size_t length = sizeof(PYTHON_COOKIE) - 1;

	if (size < length + sizeof(*version) || memcmp(bytes, PYTHON_COOKIE, length) != 0)
		return false;
	*version = bytes_u64((const uint8_t *)bytes + length);
	return true;
}

/*
 * Reads _Py_DebugOffsets. Returns false when it is not plausible, and sets *why to a constant text.
 */
static bool
read_offsets(const uint8_t *bytes, size_t size, struct published *to, const char **why)
{
	uint64_t version, free_threaded;

	*to = (struct published){ .in_tasks = false };
	python_layout_clear(&to->layout);
	*why = "it does not say where its parts are";
	if (!python_offsets_version(bytes, size, &version) || size < 3 * sizeof(uint64_t))
		return false;
	*why = "the version that it says it has is none";
	if (version > UINT32_MAX || version < PYTHON_VERSION(3, 13) || version >> 24 != 3)
		return false;
	*why = "what it says of its parts cannot be so";
	free_threaded = bytes_u64(bytes + 2 * sizeof(uint64_t));
	to->layout.version = (uint32_t)version;
	to->layout.free_threaded = free_threaded == 1;
	to->layout.source = PYTHON_BY_ITSELF;
	return free_threaded <= 1 &&
	       read_words(offsets, ARRAY_SIZE(offsets), bytes, size,
			  python_minor(to->layout.version), to) &&
	       !to->invalid[false];
}

/* --- frames, names and the lock ---------------------------------------------------------- */

/*
 * Returns the distance in bytes from the member _status to the member `state` of PyThreadState:
 * CPython publishes the offset of _status alone. The members are (Include/cpython/pystate.h):
 * struct { unsigned … : 1; } _status; int holds_gil (since 3.14); int gil_requested (since 3.15);
 * int _whence; int state.
 */
static uint32_t
state_behind_status(unsigned minor)
{
	return minor == 13 ? 8 : minor == 14 ? 12 : 16;
}

/* Returns false when two members that cannot have the same offset have it: then the words have
 * another order than in offsets[]. */
static bool
are_apart(const struct python_layout *l)
{
	const uint32_t apart[][2] = {
		{ l->thread_next, l->thread_previous },
		{ l->thread_next, l->thread_interpreter },
		{ l->thread_pthread, l->thread_native },
		{ l->interpreter_next, l->interpreter_threads },
		{ l->frame_previous, l->frame_code },
		{ l->frame_previous, l->frame_instruction },
		{ l->code_filename, l->code_name },
		{ l->code_name, l->code_qualified_name },
		{ l->code_qualified_name, l->code_line_table },
		{ l->gil_locked, l->gil_holder },
		{ l->text_state, l->text_length },
	};

	for (size_t i = 0; i < ARRAY_SIZE(apart); i++)
		if (apart[i][0] == apart[i][1])
			return false;
	return true;
}

bool
python_offsets_parse(const void *bytes, size_t size, struct python_layout *layout, const char **why)
{
	struct published published;
	const bool valid = read_offsets(bytes, size, &published, why);

	*layout = published.layout;
	/* CPython publishes gil_locked and gil_holder relative to the interpreter, and gil_enabled
	 * relative to the lock. */
	layout->gil_locked -= published.gil;
	layout->gil_holder -= published.gil;
	if (!valid || layout->gil_locked >= LOCK_MOST || layout->gil_holder >= LOCK_MOST ||
	    layout->gil_enabled >= LOCK_MOST || !are_apart(layout))
		return false;
	layout->gil_size = layout->gil_locked + python_gil_rest;
	layout->thread_state += state_behind_status(python_minor(layout->version));
	if (layout->text_compact == MEMBER_ABSENT)
		layout->text_compact = layout->text_ascii + COMPACT_MORE;
	python_layout_finish(layout);
	return python_layout_is_sane(layout);
}

/* --- tasks ------------------------------------------------------------------------------- */

bool
python_offsets_parse_tasks(const void *bytes, size_t size, struct python_task_layout *layout)
{
	struct published published;
	const char *why;

	if (!read_offsets(bytes, size, &published, &why) || published.invalid[true] ||
	    python_minor(published.layout.version) < 14 ||
	    published.frame_size > PYTHON_TASK_PART_MOST ||
	    published.tasks.object_size > PYTHON_TASK_PART_MOST || published.list_next != 0 ||
	    published.list_previous != sizeof(uint64_t))
		return false;
	*layout = published.tasks;
	return true;
}

bool
python_asyncio_parse(const uint64_t word[PYTHON_ASYNCIO_WORDS], struct python_task_layout *layout)
{
	struct published published = { .tasks = *layout };

	if (!read_words(asyncio, ARRAY_SIZE(asyncio), (const uint8_t *)word,
			PYTHON_ASYNCIO_WORDS * sizeof(*word), 14, &published) ||
	    published.invalid[false] || published.invalid[true] ||
	    published.asyncio_interpreter_size != layout->interpreter_size)
		return false;
	*layout = published.tasks;
	return true;
}
