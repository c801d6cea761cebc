/* SPDX-License-Identifier: MIT */
/*
 * python_table_aarch64.c - layouts of released versions of CPython on aarch64.
 *
 * The rows are those of x86-64: no member that is read follows a pthread mutex or condition, the
 * only types of a different size. They only move the end of the lock.
 */
#include "runtime/python/python_find_internal.h"

/* An int, an unsigned long, and twice pthread_cond_t (48 bytes) and pthread_mutex_t (48 bytes). */
const uint32_t python_table_gil_rest = 208;

/* clang-format off */
const struct python_layout python_table[] = {
	{
		.version = PYTHON_VERSION(3, 8), .source = PYTHON_BY_TABLE,
		.runtime_interpreters = 32, .runtime_gil = 1152, .interpreter_id = 16,
		.interpreter_next = 0, .interpreter_threads = 8, .interpreter_gil = PYTHON_ABSENT,
		.thread_previous = 0, .thread_next = 8, .thread_interpreter = 16,
		.thread_frame = 24, .thread_pthread = 176, .thread_native = PYTHON_ABSENT,
		.thread_state = PYTHON_ABSENT, .cframe_frame = PYTHON_ABSENT,
		.cframe_previous = PYTHON_ABSENT, .frame_code = 32, .frame_previous = 24,
		.frame_instruction = 104, .frame_owner = PYTHON_ABSENT,
		.frame_bytecode_index = PYTHON_ABSENT, .code_filename = 104, .code_name = 112,
		.code_qualified_name = PYTHON_ABSENT, .code_line_table = 120,
		.code_first_line = 40, .code_instructions = PYTHON_ABSENT,
		.code_bytecodes = PYTHON_ABSENT, .gil_holder = 8, .gil_locked = 16,
		.gil_enabled = PYTHON_ABSENT, .text_length = 16, .text_state = 32,
		.text_ascii = 48, .text_compact = 72, .bytes_size = 16, .bytes_data = 32,
		.object_type = 8, .type_name = 24, .frame_size = 112, .code_size = 128,
		.gil_size = 224,
	},
	{
		.version = PYTHON_VERSION(3, 9), .source = PYTHON_BY_TABLE,
		.runtime_interpreters = 32, .runtime_gil = 352, .interpreter_id = 24,
		.interpreter_next = 0, .interpreter_threads = 8, .interpreter_gil = PYTHON_ABSENT,
		.thread_previous = 0, .thread_next = 8, .thread_interpreter = 16,
		.thread_frame = 24, .thread_pthread = 176, .thread_native = PYTHON_ABSENT,
		.thread_state = PYTHON_ABSENT, .cframe_frame = PYTHON_ABSENT,
		.cframe_previous = PYTHON_ABSENT, .frame_code = 32, .frame_previous = 24,
		.frame_instruction = 104, .frame_owner = PYTHON_ABSENT,
		.frame_bytecode_index = PYTHON_ABSENT, .code_filename = 104, .code_name = 112,
		.code_qualified_name = PYTHON_ABSENT, .code_line_table = 120,
		.code_first_line = 40, .code_instructions = PYTHON_ABSENT,
		.code_bytecodes = PYTHON_ABSENT, .gil_holder = 8, .gil_locked = 16,
		.gil_enabled = PYTHON_ABSENT, .text_length = 16, .text_state = 32,
		.text_ascii = 48, .text_compact = 72, .bytes_size = 16, .bytes_data = 32,
		.object_type = 8, .type_name = 24, .frame_size = 112, .code_size = 128,
		.gil_size = 224,
	},
	{
		.version = PYTHON_VERSION(3, 10), .source = PYTHON_BY_TABLE,
		.runtime_interpreters = 32, .runtime_gil = 352, .interpreter_id = 24,
		.interpreter_next = 0, .interpreter_threads = 8, .interpreter_gil = PYTHON_ABSENT,
		.thread_previous = 0, .thread_next = 8, .thread_interpreter = 16,
		.thread_frame = 24, .thread_pthread = 176, .thread_native = PYTHON_ABSENT,
		.thread_state = PYTHON_ABSENT, .cframe_frame = PYTHON_ABSENT,
		.cframe_previous = PYTHON_ABSENT, .frame_code = 32, .frame_previous = 24,
		.frame_instruction = 96, .frame_owner = PYTHON_ABSENT,
		.frame_bytecode_index = PYTHON_ABSENT, .code_filename = 104, .code_name = 112,
		.code_qualified_name = PYTHON_ABSENT, .code_line_table = 120,
		.code_first_line = 40, .code_instructions = PYTHON_ABSENT,
		.code_bytecodes = PYTHON_ABSENT, .gil_holder = 8, .gil_locked = 16,
		.gil_enabled = PYTHON_ABSENT, .text_length = 16, .text_state = 32,
		.text_ascii = 48, .text_compact = 72, .bytes_size = 16, .bytes_data = 32,
		.object_type = 8, .type_name = 24, .frame_size = 104, .code_size = 128,
		.gil_size = 224,
	},
	{
		.version = PYTHON_VERSION(3, 11), .source = PYTHON_BY_TABLE,
		.runtime_interpreters = 40, .runtime_gil = 360, .interpreter_id = 48,
		.interpreter_next = 0, .interpreter_threads = 16,
		.interpreter_gil = PYTHON_ABSENT, .thread_previous = 0, .thread_next = 8,
		.thread_interpreter = 16, .thread_frame = 56, .thread_pthread = 152,
		.thread_native = 160, .thread_state = PYTHON_ABSENT, .cframe_frame = 8,
		.cframe_previous = 16, .frame_code = 32, .frame_previous = 48,
		.frame_instruction = 56, .frame_owner = 69, .frame_bytecode_index = PYTHON_ABSENT,
		.code_filename = 112, .code_name = 120, .code_qualified_name = 128,
		.code_line_table = 136, .code_first_line = 72, .code_instructions = 184,
		.code_bytecodes = PYTHON_ABSENT, .gil_holder = 8, .gil_locked = 16,
		.gil_enabled = PYTHON_ABSENT, .text_length = 16, .text_state = 32,
		.text_ascii = 48, .text_compact = 72, .bytes_size = 16, .bytes_data = 32,
		.object_type = 8, .type_name = 24, .frame_size = 70, .code_size = 144,
		.gil_size = 224,
	},
	{
		.version = PYTHON_VERSION(3, 12), .source = PYTHON_BY_TABLE,
		.runtime_interpreters = 40, .runtime_gil = PYTHON_ABSENT, .interpreter_id = 8,
		.interpreter_next = 0, .interpreter_threads = 72, .interpreter_gil = 384,
		.thread_previous = 0, .thread_next = 8, .thread_interpreter = 16,
		.thread_frame = 56, .thread_pthread = 136, .thread_native = 144,
		.thread_state = PYTHON_ABSENT, .cframe_frame = 0, .cframe_previous = 8,
		.frame_code = 0, .frame_previous = 8, .frame_instruction = 56, .frame_owner = 70,
		.frame_bytecode_index = PYTHON_ABSENT, .code_filename = 112, .code_name = 120,
		.code_qualified_name = 128, .code_line_table = 136, .code_first_line = 68,
		.code_instructions = 192, .code_bytecodes = PYTHON_ABSENT, .gil_holder = 8,
		.gil_locked = 16, .gil_enabled = PYTHON_ABSENT, .text_length = 16,
		.text_state = 32, .text_ascii = 40, .text_compact = 56, .bytes_size = 16,
		.bytes_data = 32, .object_type = 8, .type_name = 24, .frame_size = 71,
		.code_size = 144, .gil_size = 224,
	},
};
/* clang-format on */

const size_t python_table_count = sizeof(python_table) / sizeof(python_table[0]);
