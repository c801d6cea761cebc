/* SPDX-License-Identifier: MIT */
/*
 * python_dwarf.c - the layout of CPython from its debug information.
 *
 * Structures are looked for among the outermost entries of all units: the unit that defines
 * _PyRuntime has them all, but may be any of them, and dwz moves types to units of their own.
 */
#include <dwarf.h>
#include <string.h>

#include "python_sources.h"
#include "wallsample/base.h"

/* libpython 3.13 has some 600,000 entries outermost in their units; damage can make rings. */
#define ENTRIES_MOST (UINT64_C(8) << 20)
#define TIME_MOST_NS (2 * NS_PER_SEC)
/* Typedefs of typedefs, const and volatile; structures without a name in structures. */
#define TYPES_MOST 16
#define DEPTH_MOST 4

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

/* A structure is known by its tag, or as that of a typedef. `since` and `until`: minor versions. */
static const struct {
	const char *tag, *type;
	uint8_t since, until;
} structures[STRUCTURES] = {
	[RUNTIME] = { "pyruntimestate", "_PyRuntimeState", ALWAYS },
	[INTERPRETER] = { "_is", "PyInterpreterState", ALWAYS },
	[THREAD] = { "_ts", "PyThreadState", ALWAYS },
	[CFRAME] = { "_cframe", "_PyCFrame", 11, 12 },
	[OLD_FRAME] = { "_frame", "PyFrameObject", 0, 10 },
	[FRAME] = { "_PyInterpreterFrame", "_PyInterpreterFrame", 11, 255 },
	[CODE] = { "PyCodeObject", "PyCodeObject", ALWAYS },
	[GIL] = { "_gil_runtime_state", "_gil_runtime_state", ALWAYS },
	[ASCII] = { "PyASCIIObject", "PyASCIIObject", ALWAYS },
	[COMPACT] = { "PyCompactUnicodeObject", "PyCompactUnicodeObject", ALWAYS },
	[BYTES] = { "PyBytesObject", "PyBytesObject", ALWAYS },
	[TYPE] = { "_typeobject", "PyTypeObject", ALWAYS },
	[OBJECT] = { "_object", "PyObject", ALWAYS },
};

/* Where a member of the layout is from. */
struct source {
	size_t to;
	enum structure structure;
	const char *path; /* members of members with dots between; NULL: the structure's size */
	uint8_t since, until;
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

struct search {
	unsigned minor;
	bool found[STRUCTURES];
	Dwarf_Die die[STRUCTURES];
	uint64_t size[STRUCTURES];
	uint64_t entries, until_ns;
};

static bool
is_wanted(const struct search *search, size_t structure)
{
	return search->minor >= structures[structure].since &&
	       search->minor <= structures[structure].until;
}

static bool
has_all(const struct search *search)
{
	for (size_t i = 0; i < STRUCTURES; i++)
		if (is_wanted(search, i) && !search->found[i])
			return false;
	return true;
}

static bool
may_go_on(struct search *search)
{
	search->entries++;
	return search->entries < ENTRIES_MOST &&
	       (search->entries % 1024 != 0 || clock_now_ns() < search->until_ns);
}

/* --- types ----------------------------------------------------------------------------- */

/* From a typedef, or a type with qualifiers, to what it is; false: nobody knows. */
static bool
peel(Dwarf_Die *die)
{
	for (int i = 0; i < TYPES_MOST; i++) {
		const int tag = dwarf_tag(die);
		Dwarf_Attribute type;
		Dwarf_Die next;

		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type && tag != DW_TAG_atomic_type)
			return true;
		if (dwarf_attr(die, DW_AT_type, &type) == NULL ||
		    dwarf_formref_die(&type, &next) == NULL)
			return false;
		*die = next;
	}
	return false;
}

/* The structure or union with its members, and its size. */
static bool
is_complete(Dwarf_Die *die, uint64_t *size)
{
	const int tag = dwarf_tag(die);
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if ((tag != DW_TAG_structure_type && tag != DW_TAG_union_type) ||
	    dwarf_hasattr(die, DW_AT_declaration) ||
	    dwarf_attr(die, DW_AT_byte_size, &attribute) == NULL ||
	    dwarf_formudata(&attribute, &value) != 0)
		return false;
	*size = value;
	return true;
}

/* Is the entry, of that name, a structure that is wanted and not yet there? */
static void
keep_structure(struct search *search, Dwarf_Die *die, const char *name, bool is_typedef)
{
	for (size_t i = 0; i < STRUCTURES; i++) {
		const char *wanted = is_typedef ? structures[i].type : structures[i].tag;
		Dwarf_Die peeled = *die;

		if (search->found[i] || !is_wanted(search, i) || strcmp(name, wanted) != 0 ||
		    !peel(&peeled) || !is_complete(&peeled, &search->size[i]))
			continue;
		search->found[i] = true;
		search->die[i] = peeled;
	}
}

static void
search_unit(struct search *search, Dwarf_Die *unit)
{
	Dwarf_Die die, next;

	if (dwarf_child(unit, &die) != 0)
		return;
	while (may_go_on(search)) {
		const int tag = dwarf_tag(&die);
		const char *name = NULL;

		if (tag == DW_TAG_structure_type || tag == DW_TAG_typedef)
			name = dwarf_diename(&die);
		if (name != NULL)
			keep_structure(search, &die, name, tag == DW_TAG_typedef);
		if (dwarf_siblingof(&die, &next) != 0)
			return;
		die = next;
	}
}

static void
search_file(struct search *search, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die top, below;
	Dwarf_Half version;
	uint8_t type;

	while (!has_all(search) && may_go_on(search) &&
	       dwarf_get_units(dwarf, unit, &unit, &version, &type, &top, &below) == 0)
		search_unit(search, &top);
}

/* --- members --------------------------------------------------------------------------- */

/* Offset of a member in what it is a member of; unions do not say. */
static bool
member_offset(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (dwarf_attr(member, DW_AT_data_member_location, &attribute) != NULL &&
	    dwarf_formudata(&attribute, &value) != 0)
		return false;
	*offset = value;
	return true;
}

static bool
member_type(Dwarf_Die *member, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(member, DW_AT_type, &attribute) != NULL &&
	       dwarf_formref_die(&attribute, type) != NULL && peel(type);
}

/* A member in the way to another. */
struct step {
	Dwarf_Die type;
	bool has_type;
	uint64_t offset;
};

static bool find_member(struct search *search, Dwarf_Die *structure, const char *name,
			size_t length, int depth, struct step *out);

/* Is this the member of that name, or is it in this one, which has none itself? */
static bool
is_member(struct search *search, Dwarf_Die *member, const char *name, size_t length, int depth,
	  struct step *out)
{
	Dwarf_Die type;
	const char *own;
	uint64_t offset;

	if (dwarf_tag(member) != DW_TAG_member || !member_offset(member, &offset))
		return false;
	own = dwarf_diename(member);
	if (own != NULL) {
		*out = (struct step){ .offset = offset };
		out->has_type = member_type(member, &out->type);
		return strlen(own) == length && memcmp(own, name, length) == 0;
	}
	if (depth == 0 || !member_type(member, &type) ||
	    !find_member(search, &type, name, length, depth - 1, out))
		return false;
	out->offset += offset;
	return true;
}

static bool
find_member(struct search *search, Dwarf_Die *structure, const char *name, size_t length,
	    int depth, struct step *out)
{
	Dwarf_Die member, next;

	if (dwarf_child(structure, &member) != 0)
		return false;
	while (may_go_on(search)) {
		if (is_member(search, &member, name, length, depth, out))
			return true;
		if (dwarf_siblingof(&member, &next) != 0)
			return false;
		member = next;
	}
	return false;
}

static bool
find_path(struct search *search, const struct source *source, uint64_t *offset)
{
	Dwarf_Die structure = search->die[source->structure];
	const char *path = source->path;

	*offset = 0;
	for (;;) {
		const size_t length = strcspn(path, ".");
		struct step step;

		if (!find_member(search, &structure, path, length, DEPTH_MOST, &step))
			return false;
		*offset += step.offset;
		if (path[length] == '\0')
			return true;
		if (!step.has_type)
			return false;
		structure = step.type;
		path += length + 1;
	}
}

static void
read_source(struct search *search, const struct source *source,
	    struct python_layout *layout)
{
	uint64_t value = search->size[source->structure];
	uint32_t offset;

	if (search->minor < source->since || search->minor > source->until ||
	    !search->found[source->structure] ||
	    (source->path != NULL && !find_path(search, source, &value)))
		return;
	offset = value < PYTHON_ABSENT ? (uint32_t)value : PYTHON_ABSENT;
	memcpy((char *)layout + source->to, &offset, sizeof(offset));
}

bool
python_dwarf_read(Dwarf *dwarf, uint32_t version, struct python_layout *layout)
{
	struct search search = {
		.minor = python_minor(version),
		.until_ns = clock_now_ns() + TIME_MOST_NS,
	};
	Dwarf *alternate = dwarf_getalt(dwarf);

	python_layout_clear(layout);
	layout->version = version;
	layout->source = PYTHON_BY_DWARF;
	search_file(&search, dwarf);
	if (alternate != NULL)
		search_file(&search, alternate);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		read_source(&search, &sources[i], layout);
	/* Only builds without a global lock can switch one on. */
	layout->free_threaded = layout->gil_enabled != PYTHON_ABSENT;
	if (!layout->free_threaded)
		layout->thread_state = layout->frame_bytecode_index = layout->code_bytecodes =
			PYTHON_ABSENT;
	python_layout_finish(layout);
	return python_layout_is_sane(layout);
}
