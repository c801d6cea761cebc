/* SPDX-License-Identifier: MIT */
/* python_array.c - the memory of a CPython as an array of bytes; see the header. */
#include "python_array.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/runtime_kind_internal.h"
#include "runtime/python/python_find_internal.h"
#include "wallsample/base/base.h"

#define STACK_SIZE ((size_t)65536)
#define EVAL_START UINT64_C(0x400000)
#define EVAL_SIZE 4096
#define CODE_UNITS 32
#define OBJECT_SIZE 1024 /* bytes of each object: more than any object here needs */
#define TIDS_MOST 100
#define ROOT_AT 256 /* offset of the root _PyCFrame in a PyThreadState */

/* --- memory -------------------------------------------------------------------------- */

static bool
read_memory(void *context, uint64_t address, void *to, size_t size)
{
	struct scene *scene = context;
	const uint64_t offset = address - SCENE_BASE;

	scene->reads++;
	if (offset > SCENE_BYTES || SCENE_BYTES - offset < size)
		return false;
	if (scene->unreadable != 0 && address < scene->unreadable + MEMORY_PAGE &&
	    address + size > scene->unreadable)
		return false;
	memcpy(to, scene->bytes + offset, size);
	return true;
}

static size_t
read_pages(void *context, const uint64_t *page, size_t count, void *to)
{
	struct scene *scene = context;
	size_t done = 0;

	while (done < count &&
	       read_memory(scene, page[done], (uint8_t *)to + done * MEMORY_PAGE, MEMORY_PAGE))
		done++;
	scene->pages_fetched += done;
	return done;
}

static pid_t
find_thread(void *context, pid_t inner)
{
	(void)context;
	return inner > 0 && inner < TIDS_MOST ? inner : 0;
}

uint64_t
array_allocate(struct scene *scene, size_t size)
{
	const uint64_t address = SCENE_BASE + scene->used;

	scene->used += (size + 15) / 16 * 16;
	if (scene->used > SCENE_BYTES)
		abort();
	return address;
}

static void
put(struct scene *scene, uint64_t address, const void *bytes, size_t size)
{
	const uint64_t offset = address - SCENE_BASE;

	if (offset > SCENE_BYTES || SCENE_BYTES - offset < size)
		abort();
	memcpy(scene->bytes + offset, bytes, size);
}

void
array_put(struct scene *scene, uint64_t address, uint64_t value)
{
	put(scene, address, &value, sizeof(value));
}

void
array_put_byte(struct scene *scene, uint64_t address, uint8_t value)
{
	put(scene, address, &value, sizeof(value));
}

uint64_t
array_get(const struct scene *scene, uint64_t address)
{
	const uint64_t offset = address - SCENE_BASE;
	uint64_t value;

	if (offset > SCENE_BYTES || SCENE_BYTES - offset < sizeof(value))
		abort();
	memcpy(&value, scene->bytes + offset, sizeof(value));
	return value;
}

/* Sets a member of an object, if this version of CPython has the member. */
static void
put_member(struct scene *scene, uint64_t object, uint32_t offset, uint64_t value)
{
	if (offset != MEMBER_ABSENT)
		array_put(scene, object + offset, value);
}

/* --- objects ------------------------------------------------------------------------- */

uint64_t
array_text(struct scene *scene, const char *text)
{
	const uint64_t object = array_allocate(scene, 128 + strlen(text));
	/* The flags of a compact ASCII str: one byte per character, behind the object. */
	const uint32_t state = (1 | 1 << 3 | 1 << 4) << 2;

	array_put(scene, object + scene->layout.text_length, strlen(text));
	put(scene, object + scene->layout.text_state, &state, sizeof(state));
	put(scene, object + scene->layout.text_ascii, text, strlen(text));
	return object;
}

static uint64_t
bytes_object(struct scene *scene, const uint8_t *bytes, size_t size)
{
	const uint64_t object = array_allocate(scene, 64 + size);

	array_put(scene, object + scene->layout.bytes_size, size);
	put(scene, object + scene->layout.bytes_data, bytes, size);
	return object;
}

static uint64_t
line_table(struct scene *scene)
{
	uint8_t table[2 * CODE_UNITS];
	size_t size = 0;

	for (int i = 0; i < CODE_UNITS; i++) {
		if (python_since(&scene->layout, 3, 11)) {
			/* Entry of the line table without columns, for one code unit (CPython's
			 * Objects/locations.md). */
			table[size++] = 0x80 | 13 << 3;
			table[size++] = i > 0 ? 2 : 0;
		} else {
			table[size++] = python_since(&scene->layout, 3, 10) || i > 0 ? 2 : 0;
			table[size++] = i > 0 ? 1 : 0;
		}
	}
	return bytes_object(scene, table, size);
}

uint64_t
array_code(struct scene *scene, const char *name, uint32_t first_line)
{
	const struct python_layout *layout = &scene->layout;
	const uint64_t object = array_allocate(scene, OBJECT_SIZE);
	const uint64_t text = array_text(scene, name);

	put_member(scene, object, layout->object_type, scene->code_type);
	put_member(scene, object, layout->code_name, text);
	put_member(scene, object, layout->code_qualified_name, text);
	put_member(scene, object, layout->code_filename, array_text(scene, "file.py"));
	put_member(scene, object, layout->code_line_table, line_table(scene));
	put(scene, object + layout->code_first_line, &first_line, sizeof(first_line));
	return object;
}

static uint64_t
instruction(const struct scene *scene, uint64_t code, uint32_t at)
{
	if (python_since(&scene->layout, 3, 11))
		return code + scene->layout.code_instructions + (uint64_t)at * 2;
	return python_since(&scene->layout, 3, 10) ? at : at * 2;
}

uint64_t
array_frame(struct scene *scene, uint64_t code, uint32_t at, uint64_t previous)
{
	const struct python_layout *layout = &scene->layout;
	const uint64_t frame = array_allocate(scene, 192);

	put_member(scene, frame, layout->frame_code, code);
	put_member(scene, frame, layout->frame_instruction, instruction(scene, code, at));
	put_member(scene, frame, layout->frame_previous, previous);
	return frame;
}

uint64_t
array_call(struct scene *scene, size_t at, uint64_t frame, uint64_t outermost, uint64_t outside)
{
	const struct python_layout *layout = &scene->layout;
	const uint64_t here = scene->stack + at, shim = here + 32;
	uint64_t outer = outside;

	if (layout->cframe_frame != MEMBER_ABSENT)
		outer = array_get(scene, outside + layout->cframe_frame);
	put_member(scene, outermost, layout->frame_previous, outer);
	if (python_since(layout, 3, 12)) {
		put_member(scene, shim, layout->frame_previous, outer);
		array_put_byte(scene, shim + layout->frame_owner, 3);
		put_member(scene, outermost, layout->frame_previous, shim);
	}
	if (layout->cframe_frame == MEMBER_ABSENT)
		return frame;
	put_member(scene, here, layout->cframe_frame, frame);
	put_member(scene, here, layout->cframe_previous, outside);
	return here;
}

uint64_t
array_interpreter(struct scene *scene, uint64_t id)
{
	const struct python_layout *layout = &scene->layout;
	const uint64_t list = scene->cpython.place.runtime + layout->runtime_interpreters;
	const uint64_t interpreter = array_allocate(scene, 16384);
	put_member(scene, interpreter, layout->interpreter_id, id);
	put_member(scene, interpreter, layout->interpreter_next, array_get(scene, list));
	put_member(scene, interpreter, layout->interpreter_gil, array_allocate(scene, 256));
	array_put(scene, list, interpreter);
	return interpreter;
}

uint64_t
array_lock(const struct scene *scene, uint64_t interpreter)
{
	const struct python_layout *layout = &scene->layout;

	if (layout->runtime_gil != MEMBER_ABSENT)
		return scene->cpython.place.runtime + layout->runtime_gil;
	return array_get(scene, interpreter + layout->interpreter_gil);
}

uint64_t
array_thread(struct scene *scene, uint64_t interpreter, pid_t tid)
{
	const struct python_layout *layout = &scene->layout;
	const uint64_t list = interpreter + layout->interpreter_threads;
	const uint64_t thread = array_allocate(scene, OBJECT_SIZE);
	const uint64_t pthread = array_allocate(scene, OBJECT_SIZE);
	const uint32_t id = (uint32_t)tid;

	put_member(scene, thread, layout->thread_next, array_get(scene, list));
	put_member(scene, thread, layout->thread_interpreter, interpreter);
	put_member(scene, thread, layout->thread_native, (uint64_t)tid);
	put_member(scene, thread, layout->thread_pthread, pthread);
	array_put(scene, list, thread);
	/* The layout of struct pthread is glibc's: see pthread_tid_*.c. */
	array_put(scene, pthread + 16, pthread);
	put(scene, pthread + pthread_tid_offset[0], &id, sizeof(id));
	array_execute(scene, thread, array_root(scene, thread));
	return thread;
}

uint64_t
array_root(const struct scene *scene, uint64_t thread)
{
	return scene->layout.cframe_frame != MEMBER_ABSENT ? thread + ROOT_AT : 0;
}

void
array_execute(struct scene *scene, uint64_t thread, uint64_t call)
{
	put_member(scene, thread, scene->layout.thread_frame, call);
}

/* --- the chain ----------------------------------------------------------------------- */

void
array_native(struct scene *scene, size_t at, bool is_eval)
{
	chain_add(&scene->chain, is_eval ? EVAL_START + 64 : EVAL_START - 64, scene->stack + at,
		  FRAME_CFI, true);
}

void
array_capture(struct scene *scene, pid_t tid)
{
	scene->cpython.base.list_budget.filled_ns = 0;
	python_threads_list(&scene->cpython.base, 1);
	python_capture(&scene->cpython, tid, &scene->captured);
}

static void __attribute__((format(printf, 3, 4)))
add_text(struct scene *scene, size_t *length, const char *format, ...)
{
	va_list args;
	int added;

	va_start(args, format);
	added = vsnprintf(scene->text + *length, sizeof(scene->text) - *length, format, args);
	va_end(args);
	if (added > 0 && *length + (size_t)added < sizeof(scene->text))
		*length += (size_t)added;
}

static void
add_frames_at(struct scene *scene, size_t *length, size_t at)
{
	bool any = false;

	for (size_t i = scene->frames.count; i-- > 0;) {
		const struct runtime_frame *frame = &scene->frames.frame[i];
		const struct runtime_place *place = runtime_places_get(&scene->places,
								       frame->place);

		if (frame->before != at)
			continue;
		add_text(scene, length, "%s%s",
			 any         ? " " :
			 *length > 0 ? " [" :
				       "[",
			 place->function);
		if (!place->marker)
			add_text(scene, length, ":%u", place->line);
		any = true;
	}
	if (any)
		add_text(scene, length, "]");
}

const char *
array_merged(struct scene *scene)
{
	size_t length = 0;

	scene->frames.count = 0;
	python_merge(NULL, &scene->captured, &scene->chain, &scene->frames);
	scene->text[0] = '\0';
	add_frames_at(scene, &length, scene->chain.count);
	for (size_t i = scene->chain.count; i-- > 0;) {
		add_text(scene, &length, "%s%zu", length > 0 ? " " : "", i);
		add_frames_at(scene, &length, i);
	}
	return scene->text;
}

/* --- beginning and end --------------------------------------------------------------- */

/* Chooses the layout of CPython 3.minor. From 3.13 on, an interpreter describes its own layout by
 * debug offsets; the scene then uses the layout of 3.12 without its _PyCFrame. */
static void
choose_layout(struct scene *scene, unsigned minor)
{
	const uint32_t version = PYTHON_VERSION(3, minor);
	const uint32_t known = minor > 12 ? PYTHON_VERSION(3, 12) : version;

	python_table_read(known, &scene->layout);
	scene->layout.version = version;
	if (minor > 12)
		scene->layout.cframe_frame = scene->layout.cframe_previous = MEMBER_ABSENT;
}

static void
make_code_type(struct scene *scene)
{
	const uint64_t word = array_allocate(scene, 16);

	put(scene, word, "code", 5);
	scene->code_type = array_allocate(scene, OBJECT_SIZE);
	put_member(scene, scene->code_type, scene->layout.type_name, word);
}

void
array_open(struct scene *scene, unsigned minor)
{
	struct cpython *cpython = &scene->cpython;

	memset(scene, 0, sizeof(*scene));
	scene->bytes = xcalloc(1, SCENE_BYTES);
	choose_layout(scene, minor);
	scene->config = (struct runtimes_config){
		.memory = { .read = read_memory, .context = scene },
		.read_pages = read_pages,
		.thread = find_thread,
		.context = scene,
	};
	scene->tools = (struct runtime_tools){
		.config = &scene->config,
		.memory = scene->config.memory,
		.places = &scene->places,
		.pages = pages_create(&scene->config),
	};
	runtime_places_init(&scene->places);
	chain_init(&scene->chain);
	scene->chain.end = CHAIN_OUTERMOST;
	cpython->base.tools = &scene->tools;
	cpython->place.layout = scene->layout;
	cpython->place.eval[0] = (struct address_range){ EVAL_START, EVAL_SIZE };
	cpython->place.eval_count = 1;
	cpython->place.runtime = array_allocate(scene, 4096);
	cpython->codes = python_codes_create(&cpython->place.layout, &scene->config.memory);
	table_init(&cpython->threads.by_state);
	table_init(&cpython->threads.by_tid);
	table_init(&cpython->before.by_state);
	table_init(&cpython->before.by_tid);
	make_code_type(scene);
	scene->stack = array_allocate(scene, STACK_SIZE);
}

void
array_close(struct scene *scene)
{
	python_codes_free(scene->cpython.codes);
	python_threads_release(&scene->cpython.base);
	free(scene->cpython.base.new_thread);
	pages_free(scene->tools.pages);
	runtime_places_release(&scene->places);
	chain_release(&scene->chain);
	free(scene->captured.frame);
	free(scene->captured.group);
	free(scene->frames.frame);
	free(scene->bytes);
}
