/* SPDX-License-Identifier: MIT */
/*
 * python_debug_offsets.c - reads the layout that CPython 3.13 and later publish: struct
 * _Py_DebugOffsets at the beginning of _PyRuntime (Include/internal/pycore_debug_offsets.h).
 *
 * The struct consists of 64-bit words in an order that grows with each version. Since the words
 * come from the target's memory, each offset is checked against the size of the structure that it
 * points into; this also detects an unknown order.
 */
#include <string.h>

#include "runtime/python/python_internal.h"
#include "runtime/python/python_find_internal.h"
#include "wallsample/base/base.h"

/* Words that are used, and the sizes that they are checked against. */
/* clang-format off */
enum word {
	OTHER,
	RUNTIME_SIZE, FINALIZING, INTERPRETERS_HEAD,
	INTERPRETER_SIZE, INTERPRETER_ID, INTERPRETER_NEXT, THREADS_HEAD, CEVAL_GIL,
	GIL, GIL_ENABLED, GIL_LOCKED, GIL_HOLDER,
	THREAD_SIZE, THREAD_PREVIOUS, THREAD_NEXT, THREAD_INTERPRETER, CURRENT_FRAME,
	THREAD_ID, NATIVE_THREAD_ID, STATUS,
	FRAME_SIZE, PREVIOUS, EXECUTABLE, INSTR_PTR, LOCALSPLUS, OWNER, STACKPOINTER, TLBC_INDEX,
	CODE_SIZE, FILENAME, NAME, QUALNAME, LINETABLE, FIRSTLINENO, CO_CODE_ADAPTIVE, CO_TLBC,
	OBJECT_SIZE, OB_TYPE,
	TYPE_SIZE, TP_NAME,
	SET_SIZE, SET_USED, SET_TABLE, SET_MASK,
	LONG_SIZE, LV_TAG, OB_DIGIT,
	BYTES_SIZE, OB_SIZE, OB_SVAL,
	UNICODE_SIZE, STATE, LENGTH, ASCII_SIZE, COMPACT_SIZE,
	GEN_SIZE, GI_NAME, GI_IFRAME, GI_FRAME_STATE, LLIST_NEXT, LLIST_PREVIOUS,
	WORDS,
};
/* clang-format on */

/* Number of consecutive OTHER words. */
#define SKIP(n) OTHER, (n)

/* The meaning of the words after cookie, version and free_threaded: the word, its repetitions, and
 * the first minor version that has it. No version has removed a word so far. */
/* clang-format off */
static const struct {
	uint8_t word, count, since;
} order[] = {
	{ RUNTIME_SIZE, 1, 13 }, { FINALIZING, 1, 13 }, { INTERPRETERS_HEAD, 1, 13 },
	{ INTERPRETER_SIZE, 1, 13 }, { INTERPRETER_ID, 1, 13 }, { INTERPRETER_NEXT, 1, 13 },
	{ THREADS_HEAD, 1, 13 }, { SKIP(1), 14 }, /* threads_main */
	{ SKIP(4), 13 }, /* gc, imports_modules, sysdict, builtins */
	{ CEVAL_GIL, 1, 13 }, { GIL, 1, 13 }, { GIL_ENABLED, 1, 13 }, { GIL_LOCKED, 1, 13 },
	{ GIL_HOLDER, 1, 13 }, { SKIP(2), 14 }, /* code_object_generation, tlbc_generation */
	{ THREAD_SIZE, 1, 13 }, { THREAD_PREVIOUS, 1, 13 }, { THREAD_NEXT, 1, 13 },
	{ THREAD_INTERPRETER, 1, 13 }, { CURRENT_FRAME, 1, 13 },
	{ SKIP(3), 15 }, /* base_frame, last_profiled_frame, last_profiled_frame_seq */
	{ THREAD_ID, 1, 13 }, { NATIVE_THREAD_ID, 1, 13 }, { SKIP(1), 13 }, /* datastack_chunk */
	{ STATUS, 1, 13 },
	{ SKIP(4), 15 }, /* holds_gil, gil_requested, current_exception, exc_state */
	{ SKIP(1), 15 }, /* err_stackitem */
	{ FRAME_SIZE, 1, 13 }, { PREVIOUS, 1, 13 }, { EXECUTABLE, 1, 13 }, { INSTR_PTR, 1, 13 },
	{ LOCALSPLUS, 1, 13 }, { OWNER, 1, 13 }, { STACKPOINTER, 1, 14 }, { TLBC_INDEX, 1, 14 },
	{ CODE_SIZE, 1, 13 }, { FILENAME, 1, 13 }, { NAME, 1, 13 }, { QUALNAME, 1, 13 },
	{ LINETABLE, 1, 13 }, { FIRSTLINENO, 1, 13 },
	{ SKIP(3), 13 }, /* argcount, localsplusnames, localspluskinds */
	{ CO_CODE_ADAPTIVE, 1, 13 }, { CO_TLBC, 1, 14 },
	{ OBJECT_SIZE, 1, 13 }, { OB_TYPE, 1, 13 },
	{ TYPE_SIZE, 1, 13 }, { TP_NAME, 1, 13 }, { SKIP(2), 13 }, /* tp_repr, tp_flags */
	{ SKIP(2), 15 }, /* tp_basicsize, tp_dictoffset */
	{ SKIP(2), 15 }, /* heap_type_object */
	{ SKIP(6), 13 }, /* tuple_object, list_object */
	{ SET_SIZE, 1, 14 }, { SET_USED, 1, 14 }, { SET_TABLE, 1, 14 }, { SET_MASK, 1, 14 },
	{ SKIP(5), 13 }, /* dict_object, float_object */
	{ LONG_SIZE, 1, 13 }, { LV_TAG, 1, 13 }, { OB_DIGIT, 1, 13 },
	{ BYTES_SIZE, 1, 13 }, { OB_SIZE, 1, 13 }, { OB_SVAL, 1, 13 },
	{ UNICODE_SIZE, 1, 13 }, { STATE, 1, 13 }, { LENGTH, 1, 13 }, { ASCII_SIZE, 1, 13 },
	{ COMPACT_SIZE, 1, 15 }, { SKIP(2), 13 }, /* gc */
	{ SKIP(3), 15 }, /* frame, generation_stats_size, generation_stats of gc */
	{ GEN_SIZE, 1, 14 }, { GI_NAME, 1, 14 }, { GI_IFRAME, 1, 14 }, { GI_FRAME_STATE, 1, 14 },
	{ LLIST_NEXT, 1, 14 }, { LLIST_PREVIOUS, 1, 14 },
};
/* clang-format on */

#define HEAD_WORDS 3 /* cookie, version, free_threaded */

/* Structures: the word with the size, and the last word; those between are offsets in it. */
static const struct {
	uint8_t size, last;
} structures[] = {
	{ RUNTIME_SIZE, INTERPRETERS_HEAD },
	{ INTERPRETER_SIZE, GIL_HOLDER },
	{ THREAD_SIZE, STATUS },
	{ FRAME_SIZE, TLBC_INDEX },
	{ CODE_SIZE, CO_TLBC },
	{ OBJECT_SIZE, OB_TYPE },
	{ TYPE_SIZE, TP_NAME },
	{ BYTES_SIZE, OB_SVAL },
	{ UNICODE_SIZE, LENGTH },
};

/* The runtime has 300 KiB, and may grow. */
#define SIZE_MOST (UINT64_C(16) << 20)

/* PyCompactUnicodeObject is a PyASCIIObject, a length and a pointer. */
#define COMPACT_MORE 16

/*
 * The offset of the thread's state is not published. PyThreadState has (Include/cpython/pystate.h)
 * struct { unsigned … : 1; } _status; int holds_gil (3.14); int gil_requested (3.15); int _whence;
 * int state.
 */
static uint32_t
state_behind_status(unsigned minor)
{
	return minor == 13 ? 8 : minor == 14 ? 12 : 16;
}

bool
python_offsets_version(const void *bytes, size_t size, uint64_t *version)
{
	const size_t length = sizeof(PYTHON_COOKIE) - 1;

	if (size < length + sizeof(*version) || memcmp(bytes, PYTHON_COOKIE, length) != 0)
		return false;
	memcpy(version, (const uint8_t *)bytes + length, sizeof(*version));
	return true;
}

/* False: there are fewer bytes than words. */
static bool
read_words(const uint8_t *bytes, size_t size, unsigned minor, uint64_t word[WORDS])
{
	size_t at = HEAD_WORDS * sizeof(uint64_t);

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (minor < order[i].since)
			continue;
		if (size < at || size - at < order[i].count * sizeof(uint64_t))
			return false;
		if (order[i].word != OTHER)
			memcpy(&word[order[i].word], bytes + at, sizeof(uint64_t));
		at += order[i].count * sizeof(uint64_t);
	}
	return true;
}

/* Is each member inside of its structure? */
static bool
are_inside(const uint64_t word[WORDS])
{
	for (size_t i = 0; i < ARRAY_SIZE(structures); i++) {
		const uint64_t size = word[structures[i].size];

		if (size == 0 || size > SIZE_MOST)
			return false;
		for (unsigned w = structures[i].size + 1; w <= structures[i].last; w++)
			/* A structure may end where an array of variable length begins. */
			if (word[w] >
			    size - (w == LOCALSPLUS || w == CO_CODE_ADAPTIVE || w == OB_SVAL ? 0 :
											       1))
				return false;
	}
	/* Members of the interpreter's lock; only `enabled` is relative to the lock. */
	return word[GIL_LOCKED] >= word[GIL] && word[GIL_HOLDER] >= word[GIL] &&
	       word[GIL_LOCKED] - word[GIL] < 64 && word[GIL_HOLDER] - word[GIL] < 64 &&
	       word[GIL_ENABLED] < 64 && word[ASCII_SIZE] <= word[UNICODE_SIZE] &&
	       word[COMPACT_SIZE] <= word[UNICODE_SIZE];
}

/* Pointers that overlap prove a different order. */
static bool
are_apart(const uint64_t word[WORDS])
{
	static const uint8_t apart[][2] = {
		{ THREAD_NEXT, THREAD_PREVIOUS },
		{ THREAD_NEXT, THREAD_INTERPRETER },
		{ THREAD_ID, NATIVE_THREAD_ID },
		{ INTERPRETER_NEXT, THREADS_HEAD },
		{ PREVIOUS, EXECUTABLE },
		{ PREVIOUS, INSTR_PTR },
		{ FILENAME, NAME },
		{ NAME, QUALNAME },
		{ QUALNAME, LINETABLE },
		{ GIL_LOCKED, GIL_HOLDER },
		{ STATE, LENGTH },
	};

	for (size_t i = 0; i < ARRAY_SIZE(apart); i++)
		if (word[apart[i][0]] == word[apart[i][1]])
			return false;
	return true;
}

static uint32_t
clip(uint64_t value)
{
	return value < PYTHON_ABSENT ? (uint32_t)value : PYTHON_ABSENT;
}

static void
set_thread(struct python_layout *to, const uint64_t word[WORDS])
{
	to->runtime_interpreters = clip(word[INTERPRETERS_HEAD]);
	to->interpreter_id = clip(word[INTERPRETER_ID]);
	to->interpreter_next = clip(word[INTERPRETER_NEXT]);
	to->interpreter_threads = clip(word[THREADS_HEAD]);
	to->interpreter_gil = clip(word[CEVAL_GIL]);
	to->thread_previous = clip(word[THREAD_PREVIOUS]);
	to->thread_next = clip(word[THREAD_NEXT]);
	to->thread_interpreter = clip(word[THREAD_INTERPRETER]);
	to->thread_frame = clip(word[CURRENT_FRAME]);
	to->thread_pthread = clip(word[THREAD_ID]);
	to->thread_native = clip(word[NATIVE_THREAD_ID]);
	to->gil_holder = clip(word[GIL_HOLDER] - word[GIL]);
	to->gil_locked = clip(word[GIL_LOCKED] - word[GIL]);
	to->gil_size = to->gil_locked + python_table_gil_rest;
	if (!to->free_threaded)
		return;
	to->gil_enabled = clip(word[GIL_ENABLED]);
	to->thread_state = clip(word[STATUS]) + state_behind_status(python_minor(to->version));
}

static void
set_frame(struct python_layout *to, const uint64_t word[WORDS])
{
	to->frame_code = clip(word[EXECUTABLE]);
	to->frame_previous = clip(word[PREVIOUS]);
	to->frame_instruction = clip(word[INSTR_PTR]);
	to->frame_owner = clip(word[OWNER]);
	to->code_filename = clip(word[FILENAME]);
	to->code_name = clip(word[NAME]);
	to->code_qualified_name = clip(word[QUALNAME]);
	to->code_line_table = clip(word[LINETABLE]);
	to->code_first_line = clip(word[FIRSTLINENO]);
	to->code_instructions = clip(word[CO_CODE_ADAPTIVE]);
	if (to->free_threaded && python_minor(to->version) >= 14) {
		to->frame_bytecode_index = clip(word[TLBC_INDEX]);
		to->code_bytecodes = clip(word[CO_TLBC]);
	}
}

static void
set_objects(struct python_layout *to, const uint64_t word[WORDS])
{
	to->text_length = clip(word[LENGTH]);
	to->text_state = clip(word[STATE]);
	to->text_ascii = clip(word[ASCII_SIZE]);
	to->text_compact = word[COMPACT_SIZE] != 0 ? clip(word[COMPACT_SIZE]) :
						     to->text_ascii + COMPACT_MORE;
	to->bytes_size = clip(word[OB_SIZE]);
	to->bytes_data = clip(word[OB_SVAL]);
	to->object_type = clip(word[OB_TYPE]);
	to->type_name = clip(word[TP_NAME]);
}

bool
python_offsets_parse(const void *bytes, size_t size, struct python_layout *layout, const char **why)
{
	uint64_t word[WORDS] = { 0 }, version, free_threaded;

	python_layout_clear(layout);
	*why = "it does not say where its parts are";
	if (!python_offsets_version(bytes, size, &version) || size < HEAD_WORDS * sizeof(uint64_t))
		return false;
	*why = "the version that it says it has is none";
	if (version > UINT32_MAX || version < PYTHON_VERSION(3, 13) || version >> 24 != 3)
		return false;
	*why = "what it says of its parts cannot be so";
	memcpy(&free_threaded, (const uint8_t *)bytes + 2 * sizeof(uint64_t), sizeof(uint64_t));
	if (free_threaded > 1 || !read_words(bytes, size, python_minor((uint32_t)version), word) ||
	    !are_inside(word) || !are_apart(word))
		return false;
	layout->version = (uint32_t)version;
	layout->free_threaded = free_threaded == 1;
	layout->source = PYTHON_BY_ITSELF;
	set_thread(layout, word);
	set_frame(layout, word);
	set_objects(layout, word);
	python_layout_finish(layout);
	return python_layout_is_sane(layout);
}

/* --- what tasks are made of -------------------------------------------------------------- */

/* The same for members that neither frames nor names need. */
static const struct {
	uint8_t size, last;
} task_structures[] = {
	{ FRAME_SIZE, STACKPOINTER },
	{ SET_SIZE, SET_MASK },
	{ LONG_SIZE, OB_DIGIT },
	{ GEN_SIZE, GI_FRAME_STATE },
};

bool
python_offsets_parse_tasks(const void *bytes, size_t size, struct python_task_layout *layout)
{
	uint64_t word[WORDS] = { 0 }, version;

	if (!python_offsets_version(bytes, size, &version) || version < PYTHON_VERSION(3, 14) ||
	    version > UINT32_MAX || !read_words(bytes, size, python_minor((uint32_t)version), word))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(task_structures); i++) {
		const uint64_t part = word[task_structures[i].size];

		if (part > PYTHON_TASK_PART_MOST)
			return false;
		for (unsigned w = task_structures[i].size + 1; w <= task_structures[i].last; w++)
			if (word[w] > part)
				return false;
	}
	if (word[OBJECT_SIZE] > PYTHON_TASK_PART_MOST || word[INTERPRETER_SIZE] > SIZE_MOST ||
	    word[LLIST_NEXT] != 0 || word[LLIST_PREVIOUS] != sizeof(uint64_t))
		return false;
	layout->interpreter_size = (uint32_t)word[INTERPRETER_SIZE];
	layout->object_size = (uint32_t)word[OBJECT_SIZE];
	layout->frame_stack = (uint32_t)word[STACKPOINTER];
	layout->frame_locals = (uint32_t)word[LOCALSPLUS];
	layout->generator_frame = (uint32_t)word[GI_IFRAME];
	layout->generator_state = (uint32_t)word[GI_FRAME_STATE];
	layout->set_table = (uint32_t)word[SET_TABLE];
	layout->set_mask = (uint32_t)word[SET_MASK];
	layout->long_tag = (uint32_t)word[LV_TAG];
	layout->long_digits = (uint32_t)word[OB_DIGIT];
	return true;
}
