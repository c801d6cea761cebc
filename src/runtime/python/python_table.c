/* SPDX-License-Identifier: MIT */
/*
 * python_table.c - layouts of CPython 3.8 to 3.12, which do not publish their layout.
 *
 * Offsets do not change within a minor version. They are the same on x86-64 and aarch64, because
 * the members whose types differ in size (pthread_mutex_t) follow all members that are read.
 * tools/python-layout prints each column; tests/unit/runtime/test_python_layout.c compares the
 * table with DWARF.
 */
#include <string.h>

#include "runtime/python/python_find_internal.h"

#define VERSIONS 5
#define TO(name) offsetof(struct python_layout, name)
#define NONE MEMBER_ABSENT

/* A member of struct python_layout without a row is absent in all these versions. */
/* clang-format off */
static const struct {
	size_t to; /* the member's offset in struct python_layout */
	uint32_t value[VERSIONS];
} rows[] = {
	/*                                3.8   3.9  3.10  3.11  3.12 */
	{ TO(runtime_interpreters),     {   32,   32,   32,   40,   40 } },
	{ TO(runtime_gil),              { 1152,  352,  352,  360, NONE } },
	{ TO(interpreter_id),           {   16,   24,   24,   48,    8 } },
	{ TO(interpreter_next),         {    0,    0,    0,    0,    0 } },
	{ TO(interpreter_threads),      {    8,    8,    8,   16,   72 } },
	{ TO(interpreter_gil),          { NONE, NONE, NONE, NONE,  384 } },
	{ TO(thread_previous),          {    0,    0,    0,    0,    0 } },
	{ TO(thread_next),              {    8,    8,    8,    8,    8 } },
	{ TO(thread_interpreter),       {   16,   16,   16,   16,   16 } },
	{ TO(thread_frame),             {   24,   24,   24,   56,   56 } },
	{ TO(thread_pthread),           {  176,  176,  176,  152,  136 } },
	{ TO(thread_native),            { NONE, NONE, NONE,  160,  144 } },
	{ TO(cframe_frame),             { NONE, NONE, NONE,    8,    0 } },
	{ TO(cframe_previous),          { NONE, NONE, NONE,   16,    8 } },
	{ TO(frame_code),               {   32,   32,   32,   32,    0 } },
	{ TO(frame_previous),           {   24,   24,   24,   48,    8 } },
	{ TO(frame_instruction),        {  104,  104,   96,   56,   56 } },
	{ TO(frame_owner),              { NONE, NONE, NONE,   69,   70 } },
	{ TO(code_filename),            {  104,  104,  104,  112,  112 } },
	{ TO(code_name),                {  112,  112,  112,  120,  120 } },
	{ TO(code_qualified_name),      { NONE, NONE, NONE,  128,  128 } },
	{ TO(code_line_table),          {  120,  120,  120,  136,  136 } },
	{ TO(code_first_line),          {   40,   40,   40,   72,   68 } },
	{ TO(code_instructions),        { NONE, NONE, NONE,  184,  192 } },
	{ TO(gil_holder),               {    8,    8,    8,    8,    8 } },
	{ TO(gil_locked),               {   16,   16,   16,   16,   16 } },
	{ TO(text_length),              {   16,   16,   16,   16,   16 } },
	{ TO(text_state),               {   32,   32,   32,   32,   32 } },
	{ TO(text_ascii),               {   48,   48,   48,   48,   40 } },
	{ TO(text_compact),             {   72,   72,   72,   72,   56 } },
	{ TO(bytes_size),               {   16,   16,   16,   16,   16 } },
	{ TO(bytes_data),               {   32,   32,   32,   32,   32 } },
	{ TO(object_type),              {    8,    8,    8,    8,    8 } },
	{ TO(type_name),                {   24,   24,   24,   24,   24 } },
};
/* clang-format on */

bool
python_table_read(uint32_t version, struct python_layout *layout)
{
	const unsigned minor = python_minor(version);

	if (version >> 24 != 3 || minor < PYTHON_MINOR_OLDEST ||
	    minor >= PYTHON_MINOR_OLDEST + VERSIONS)
		return false;
	python_layout_clear(layout);
	layout->version = PYTHON_VERSION(3, minor);
	layout->source = PYTHON_BY_TABLE;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		memcpy((char *)layout + rows[i].to, &rows[i].value[minor - PYTHON_MINOR_OLDEST],
		       sizeof(uint32_t));
	layout->gil_size = layout->gil_locked + python_gil_rest;
	python_layout_finish(layout);
	return true;
}
