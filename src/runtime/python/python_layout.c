/* SPDX-License-Identifier: MIT */
/* python_layout.c - checks and completes layouts, and converts versions. */
#include "runtime/python/python_layout_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/python/python_find_internal.h"
#include "wallsample/base/base.h"

/* Largest plausible offset in all structures but PyInterpreterState. _PyRuntimeState of 3.14 has
 * 300 KiB, but the members that are read are in its first kilobyte. */
#define OFFSET_MOST ((uint32_t)64 << 10)
/*
 * Largest plausible offset in PyInterpreterState: since 3.13 arrays precede its threads and its
 * lock.
 */
#define INTERPRETER_MOST ((uint32_t)1 << 20)

void
python_layout_clear(struct python_layout *layout)
{
	*layout = (struct python_layout){
#define X(name) .name = MEMBER_ABSENT,
		PYTHON_OFFSETS(X)
#undef X
	};
}

static uint32_t
end_of_member(uint32_t member, uint32_t size, uint32_t other)
{
	return member != MEMBER_ABSENT && member + size > other ? member + size : other;
}

void
python_layout_finish(struct python_layout *layout)
{
	uint32_t size = 0;

	if (!layout->free_threaded)
		layout->gil_enabled = layout->thread_state = layout->frame_bytecode_index =
			layout->code_bytecodes = MEMBER_ABSENT;
	/* A code object ends with its instructions, which are not read together with its other
	 * members. */
	size = end_of_member(layout->code_filename, 8, size);
	size = end_of_member(layout->code_name, 8, size);
	size = end_of_member(layout->code_qualified_name, 8, size);
	size = end_of_member(layout->code_line_table, 8, size);
	size = end_of_member(layout->code_first_line, 4, size);
	size = end_of_member(layout->code_bytecodes, 8, size);
	layout->code_size = size;
	size = end_of_member(layout->frame_code, 8, 0);
	size = end_of_member(layout->frame_previous, 8, size);
	size = end_of_member(layout->frame_instruction, 8, size);
	size = end_of_member(layout->frame_owner, 1, size);
	size = end_of_member(layout->frame_bytecode_index, 4, size);
	layout->frame_size = size;
	size = end_of_member(layout->thread_next, 8, 0);
	size = end_of_member(layout->thread_interpreter, 8, size);
	size = end_of_member(layout->thread_frame, 8, size);
	size = end_of_member(layout->thread_pthread, 8, size);
	size = end_of_member(layout->thread_native, 8, size);
	size = end_of_member(layout->thread_state, 4, size);
	layout->thread_size = size;
}

static const struct {
	const char *name;
	size_t at;
} members[] = {
#define X(name) { #name, offsetof(struct python_layout, name) },
	PYTHON_OFFSETS(X)
#undef X
		{ "gil_size", offsetof(struct python_layout, gil_size) },
};

const char *
python_layout_member(const struct python_layout *layout, size_t index, uint32_t *value)
{
	if (index >= ARRAY_SIZE(members))
		return NULL;
	memcpy(value, (const char *)layout + members[index].at, sizeof(*value));
	return members[index].name;
}

/* --- sanity ------------------------------------------------------------------------------ */

static bool
is_bounded(const struct python_layout *layout)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const bool large = strncmp(members[i].name, "interpreter_", 12) == 0;
		uint32_t value;

		python_layout_member(layout, i, &value);
		if (value != MEMBER_ABSENT && value > (large ? INTERPRETER_MOST : OFFSET_MOST))
			return false;
	}
	return true;
}

/* Returns true when the layout has all members that exist in every version. */
static bool
has_common(const struct python_layout *l)
{
	const uint32_t wanted[] = {
		l->runtime_interpreters, l->interpreter_next,   l->interpreter_threads,
		l->thread_next,          l->thread_interpreter, l->thread_frame,
		l->thread_pthread,       l->frame_code,         l->frame_previous,
		l->frame_instruction,    l->code_filename,      l->code_name,
		l->code_line_table,      l->code_first_line,    l->gil_holder,
		l->gil_locked,           l->text_length,        l->text_state,
		l->text_ascii,           l->text_compact,       l->bytes_size,
		l->bytes_data,           l->object_type,        l->type_name
	};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (wanted[i] == MEMBER_ABSENT)
			return false;
	return true;
}

/* Some members exist only in some versions. Returns true when the layout has those that its version
 * must have. */
static bool
has_versioned(const struct python_layout *l)
{
	const unsigned minor = python_minor(l->version);

	if (minor < PYTHON_MINOR_OLDEST)
		return false;
	if ((minor < 12 ? l->runtime_gil : l->interpreter_gil) == MEMBER_ABSENT)
		return false;
	if (minor < 11)
		return true;
	if (l->thread_native == MEMBER_ABSENT || l->code_instructions == MEMBER_ABSENT ||
	    l->code_qualified_name == MEMBER_ABSENT)
		return false;
	if (minor < 13 && l->cframe_frame == MEMBER_ABSENT)
		return false;
	return minor == 11 || l->frame_owner != MEMBER_ABSENT;
}

bool
python_layout_is_sane(const struct python_layout *layout)
{
	return is_bounded(layout) && has_common(layout) && has_versioned(layout) &&
	       layout->frame_size <= PYTHON_FRAME_BYTES && layout->code_size <= PYTHON_CODE_BYTES &&
	       layout->thread_size <= PYTHON_THREAD_BYTES &&
	       layout->gil_size > layout->gil_locked && layout->gil_size > layout->gil_holder;
}

/* --- versions ---------------------------------------------------------------------------- */

/* `version` is a PY_VERSION_HEX: 8 bits each for major, minor and patch level, 4 for the release
 * level (0xa alpha, 0xb beta, 0xc candidate, 0xf final), 4 for the serial. */
void
python_version_text(uint32_t version, char text[PYTHON_VERSION_TEXT])
{
	const unsigned major = version >> 24, minor = python_minor(version);
	const unsigned micro = version >> 8 & 0xff, level = version >> 4 & 15;
	const char *word = level == 0xa ? "a" : level == 0xb ? "b" : "rc";

	if (level == 0)
		snprintf(text, PYTHON_VERSION_TEXT, "%u.%u", major, minor);
	else if (level >= 0xa && level <= 0xc)
		snprintf(text, PYTHON_VERSION_TEXT, "%u.%u.%u%s%u", major, minor, micro, word,
			 version & 15);
	else
		snprintf(text, PYTHON_VERSION_TEXT, "%u.%u.%u", major, minor, micro);
}

/* Parses a number from 0 to 255 of one to three digits at text[*at], and sets *at to its end.
 * Returns false when there is none. */
static bool
parse_part(const char *text, size_t size, size_t *at, unsigned *part)
{
	const size_t first = *at;

	*part = 0;
	while (*at < size && *at < first + 3 && text[*at] >= '0' && text[*at] <= '9')
		*part = *part * 10 + (unsigned)(text[(*at)++] - '0');
	return *at > first && *part < 256;
}

/* Parses "a1", "b2" or "rc1" at text[*at], and sets *at to its end; for any other text a final
 * release is assumed. Returns the last byte of the PY_VERSION_HEX. */
static uint32_t
parse_level(const char *text, size_t size, size_t *at)
{
	uint32_t level = 0xf;
	size_t next = *at;
	unsigned serial;

	if (next < size && (text[next] == 'a' || text[next] == 'b'))
		level = text[next++] == 'a' ? 0xa : 0xb;
	else if (size - next >= 2 && memcmp(text + next, "rc", 2) == 0) {
		level = 0xc;
		next += 2;
	}
	if (level == 0xf || !parse_part(text, size, &next, &serial))
		return 0xf0;
	*at = next;
	return level << 4 | (serial & 15);
}

bool
python_version_parse(const char *text, size_t size, uint32_t *version, size_t *length)
{
	size_t at = 2;
	unsigned minor, micro;

	if (size < 2 || memcmp(text, "3.", 2) != 0 || !parse_part(text, size, &at, &minor))
		return false;
	*version = PYTHON_VERSION(3, minor);
	*length = at;
	if (at >= size || text[at] != '.')
		return true;
	at++;
	if (!parse_part(text, size, &at, &micro))
		return true;
	*version |= micro << 8;
	*version |= parse_level(text, size, &at);
	*length = at;
	return true;
}
