/* SPDX-License-Identifier: MIT */
/* python_dwarf.c - reads the layout of CPython from its debug information. */
#include <string.h>

#include "wallsample/dwarf/dwarf_structures.h"
#include "runtime/python/python_find_internal.h"
#include "wallsample/base/base.h"

/* Most time that the search for structures in DWARF may take. */
#define TIME_MOST_NS (2 * NS_PER_SEC)

enum structure {
	RUNTIME,
	INTERPRETER,
	THREAD,
	CFRAME,
	OLD_FRAME,
	FRAME,
	CODE,
	GIL,
	ASCII,
	COMPACT,
	BYTES,
	TYPE,
	OBJECT,
	STRUCTURES,
};

#define ALWAYS 0, 255

/* Tags and typedefs of CPython's structures, and the first and last minor version that has each. */
static const struct {
	struct dwarf_structure name;
	uint8_t since, until;
} structures[STRUCTURES] = {
	[RUNTIME] = { { "pyruntimestate", "_PyRuntimeState" }, ALWAYS },
	[INTERPRETER] = { { "_is", "PyInterpreterState" }, ALWAYS },
	[THREAD] = { { "_ts", "PyThreadState" }, ALWAYS },
	[CFRAME] = { { "_cframe", "_PyCFrame" }, 11, 12 },
	[OLD_FRAME] = { { "_frame", "PyFrameObject" }, 0, 10 },
	[FRAME] = { { "_PyInterpreterFrame", "_PyInterpreterFrame" }, 11, 255 },
	[CODE] = { { "PyCodeObject", "PyCodeObject" }, ALWAYS },
	[GIL] = { { "_gil_runtime_state", "_gil_runtime_state" }, ALWAYS },
	[ASCII] = { { "PyASCIIObject", "PyASCIIObject" }, ALWAYS },
	[COMPACT] = { { "PyCompactUnicodeObject", "PyCompactUnicodeObject" }, ALWAYS },
	[BYTES] = { { "PyBytesObject", "PyBytesObject" }, ALWAYS },
	[TYPE] = { { "_typeobject", "PyTypeObject" }, ALWAYS },
	[OBJECT] = { { "_object", "PyObject" }, ALWAYS },
};

/* A member of struct python_layout, and the member of a structure whose offset is stored in it. */
struct source {
	size_t to; /* offset in struct python_layout */
	enum structure structure;
	/* names of nested members, separated by dots; NULL: the size of the structure is stored */
	const char *path;
	uint8_t since, until; /* first and last minor version */
};

#define TO(name) offsetof(struct python_layout, name)

static const struct source sources[] = {
	{ TO(runtime_interpreters), RUNTIME, "interpreters.head", ALWAYS },
	{ TO(runtime_gil), RUNTIME, "ceval.gil", 0, 11 },
	{ TO(interpreter_id), INTERPRETER, "id", ALWAYS },
	{ TO(interpreter_next), INTERPRETER, "next", ALWAYS },
	{ TO(interpreter_threads), INTERPRETER, "tstate_head", 0, 10 },
	{ TO(interpreter_threads), INTERPRETER, "threads.head", 11, 255 },
	{ TO(interpreter_gil), INTERPRETER, "ceval.gil", 12, 255 },
	{ TO(thread_previous), THREAD, "prev", ALWAYS },
	{ TO(thread_next), THREAD, "next", ALWAYS },
	{ TO(thread_interpreter), THREAD, "interp", ALWAYS },
	{ TO(thread_frame), THREAD, "frame", 0, 10 },
	{ TO(thread_frame), THREAD, "cframe", 11, 12 },
	{ TO(thread_frame), THREAD, "current_frame", 13, 255 },
	{ TO(thread_pthread), THREAD, "thread_id", ALWAYS },
	{ TO(thread_native), THREAD, "native_thread_id", 11, 255 },
	{ TO(thread_state), THREAD, "state", 13, 255 },
	{ TO(cframe_frame), CFRAME, "current_frame", 11, 12 },
	{ TO(cframe_previous), CFRAME, "previous", 11, 12 },
	{ TO(frame_code), OLD_FRAME, "f_code", 0, 10 },
	{ TO(frame_code), FRAME, "f_code", 11, 12 },
	{ TO(frame_code), FRAME, "f_executable", 13, 255 },
	{ TO(frame_previous), OLD_FRAME, "f_back", 0, 10 },
	{ TO(frame_previous), FRAME, "previous", 11, 255 },
	{ TO(frame_instruction), OLD_FRAME, "f_lasti", 0, 10 },
	{ TO(frame_instruction), FRAME, "prev_instr", 11, 12 },
	{ TO(frame_instruction), FRAME, "instr_ptr", 13, 255 },
	{ TO(frame_owner), FRAME, "owner", 11, 255 },
	{ TO(frame_bytecode_index), FRAME, "tlbc_index", 14, 255 },
	{ TO(code_filename), CODE, "co_filename", ALWAYS },
	{ TO(code_name), CODE, "co_name", ALWAYS },
	{ TO(code_qualified_name), CODE, "co_qualname", 11, 255 },
	{ TO(code_line_table), CODE, "co_lnotab", 0, 9 },
	{ TO(code_line_table), CODE, "co_linetable", 10, 255 },
	{ TO(code_first_line), CODE, "co_firstlineno", ALWAYS },
	{ TO(code_instructions), CODE, "co_code_adaptive", 11, 255 },
	{ TO(code_bytecodes), CODE, "co_tlbc", 14, 255 },
	{ TO(gil_holder), GIL, "last_holder", ALWAYS },
	{ TO(gil_locked), GIL, "locked", ALWAYS },
	{ TO(gil_enabled), GIL, "enabled", 13, 255 },
	{ TO(gil_size), GIL, NULL, ALWAYS },
	{ TO(text_length), ASCII, "length", ALWAYS },
	{ TO(text_state), ASCII, "state", ALWAYS },
	{ TO(text_ascii), ASCII, NULL, ALWAYS },
	{ TO(text_compact), COMPACT, NULL, ALWAYS },
	{ TO(bytes_size), BYTES, "ob_base.ob_size", ALWAYS },
	{ TO(bytes_data), BYTES, "ob_sval", ALWAYS },
	{ TO(object_type), OBJECT, "ob_type", ALWAYS },
	{ TO(type_name), TYPE, "tp_name", ALWAYS },
};

static void
python_read_member(struct dwarf_structures *found, unsigned minor, const struct source *source,
		   struct python_layout *layout)
{
	uint64_t value = found->size[source->structure];
	uint32_t offset;

	if (minor < source->since || minor > source->until || !found->found[source->structure] ||
	    (source->path != NULL &&
	     !dwarf_structures_member(found, source->structure, source->path, &value)))
		return;
	offset = value < MEMBER_ABSENT ? (uint32_t)value : MEMBER_ABSENT;
	memcpy((char *)layout + source->to, &offset, sizeof(offset));
}

bool
python_dwarf_read(Dwarf *dwarf, uint32_t version, struct python_layout *layout)
{
	struct dwarf_structures found = { .time_ns = TIME_MOST_NS };
	const unsigned minor = python_minor(version);
	Dwarf *alternate = dwarf_getalt(dwarf);

	python_layout_clear(layout);
	layout->version = version;
	layout->source = PYTHON_BY_DWARF;
	for (size_t i = 0; i < STRUCTURES; i++)
		if (minor >= structures[i].since && minor <= structures[i].until)
			found.wanted[i] = structures[i].name;
	dwarf_structures_find(&found, dwarf);
	if (alternate != NULL)
		dwarf_structures_find(&found, alternate);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		python_read_member(&found, minor, &sources[i], layout);
	/* Only free-threaded builds, which can enable and disable the lock, have the member
	 * "enabled". */
	layout->free_threaded = layout->gil_enabled != MEMBER_ABSENT;
	python_layout_finish(layout);
	return python_layout_is_sane(layout);
}
