/* SPDX-License-Identifier: MIT */
/*
 * test_pprof.c - a pprof file taken apart again: inlined functions, mappings, hostile names.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "../scene/made_object.h"
#include "pprof.pb-c.h"
#include "wallsample/base/base.h"
#include "wallsample/format/exporters.h"
#include "wallsample/process/module.h"

#define CODE 0x7f0000000000
#define STRIPPED 3 /* id of a module without symbols */
#define MS ((int64_t)NS_PER_MS)

/* --- names: at 0x10 two functions are inlined, 0x20 is their caller, 0x30 has no symbol ------ */

static struct symbol
named(const char *function, const char *file, uint32_t line, bool inlined)
{
	return (struct symbol){ .function = function, .module = "[jit]", .file = file,
				.line = line, .known = true, .inlined = inlined };
}

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	(void)symbols;
	assert_true(most >= 3);
	if (place->module == STRIPPED) {
		out[0] = (struct symbol){ .function = "libz.so.1.2.13+0x3320",
					  .module = "libz.so.1.2.13" };
		return 1;
	}
	switch (place->vaddr - CODE) {
	case 0x10:
		out[0] = named("inner", "/src/a.h", 3, true);
		out[1] = named("_Z6middlev", "/src/a.h", 9, true);
		out[2] = named("outer", "/src/a.c", 20, false);
		return 3;
	case 0x20:
		out[0] = named("a\x1b]0;\xff\n", "/src/\xfe", 0, false);
		return 1;
	default:
		out[0] = (struct symbol){ .function = "[jit]+0x30", .module = "[jit]" };
		return 1;
	}
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	(void)count;
}

/* --- what is written -------------------------------------------------------------------------- */

struct written {
	struct profile *profile;
	struct modules *modules;
	struct view *view;
	Wallsample__Pprof__Profile *message;
};

static uint32_t
stack_of(struct profile *profile, const uint64_t *offset, size_t count)
{
	uint32_t stack = STACK_NONE;

	for (size_t i = 0; i < count; i++)
		stack = profile_intern_stack(profile,
			profile_intern_frame(profile, &(struct profile_frame){
				.module = 0, .address = CODE + offset[i] }), stack);
	return stack;
}

static void
add(struct profile *profile, uint32_t thread, uint32_t stack, enum run_state state, int64_t ms)
{
	profile_add(profile, &(struct profile_entry){
		.thread = thread, .stack = stack, .state = state,
		.gil = state == RUN_QUEUED ? GIL_HANDOVER : GIL_UNKNOWN,
		.syscall = (int32_t)syscall_number("futex"), .samples = 1,
		.ns = { ms * MS, ms * MS / 2, ms * MS / 4 } });
}

static Wallsample__Pprof__Profile *
read_back(const char *bytes, size_t size)
{
	uint8_t plain[16384];
	z_stream zip = { .next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (unsigned)size,
			 .next_out = plain, .avail_out = sizeof(plain) };
	Wallsample__Pprof__Profile *message;

	assert_int_equal(inflateInit2(&zip, 15 + 16), Z_OK);
	assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
	message = wallsample__pprof__profile__unpack(NULL, zip.total_out, plain);
	inflateEnd(&zip);
	assert_non_null(message);
	return message;
}

static int
make(void **state)
{
	struct written *written = xcalloc(1, sizeof(*written));
	struct run_stats *stats = xcalloc(1, sizeof(*stats));
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);
	char command[] = "a\xff\n";
	struct process process = { .pid = 7, .cmdline = command };
	struct export_input input = { .process = &process, .stats = stats, .filtered = true,
				      .sort = WEIGHT_CPU };
	struct made_object object;
	struct image *image;
	uint32_t thread, other;

	made_program_init(&object, CODE);
	image = image_open_memory(&object, sizeof(object));
	assert_non_null(image);
	image->build_id_size = 2;
	image->build_id[0] = 0xab;
	written->modules = modules_create();
	assert_int_equal(modules_add_object(written->modules, image), 0);
	/* two of which no sample is, the first of them the program */
	modules_add_recorded(written->modules, &(struct recorded_module){
		.path = "/no/program", .build_id = "cd01" });
	modules_add_recorded(written->modules, &(struct recorded_module){
		.path = "/no/library", .build_id = "ef02" });
	assert_int_equal(modules_add_recorded(written->modules, &(struct recorded_module){
		.path = "/usr/lib/libz.so.1.2.13", .build_id = "1234" }), STRIPPED);
	written->profile = profile_create();
	thread = profile_add_thread(written->profile, 0, 7, 1, "main\x1b\xff");
	other = profile_add_thread(written->profile, 0, 8, 1, "");
	/* recursion through one address: two locations, of three lines each */
	add(written->profile, thread,
	    stack_of(written->profile, (const uint64_t[]){ 0x20, 0x10, 0x10 }, 3), RUN_SLEEPING, 8);
	add(written->profile, other, stack_of(written->profile, (const uint64_t[]){ 0x30 }, 1),
	    RUN_RUNNING, 16);
	add(written->profile, other, STACK_NONE, RUN_UNKNOWN, 24);
	add(written->profile, other,
	    profile_intern_stack(written->profile,
				 profile_intern_named(written->profile, "[failed: made up]"),
				 STACK_NONE), RUN_QUEUED, 32);
	add(written->profile, other,
	    profile_intern_stack(written->profile,
				 profile_intern_frame(written->profile, &(struct profile_frame){
					.module = STRIPPED, .address = 0x3344 }),
				 STACK_NONE), RUN_UNKNOWN, 40);
	written->view = view_create(written->profile, NULL, &(struct filter){ 0 }, VIEW_BY_ADDRESS);
	input.view = written->view;
	input.modules = written->modules;
	stats->rate_wanted = 100;
	stats->elapsed_ns = 3 * NS_PER_SEC;
	export_write(exporter_by_name("pprof"), &input, out);
	assert_int_equal(fclose(out), 0);
	written->message = read_back(bytes, size);
	free(bytes);
	free(stats);
	*state = written;
	return 0;
}

static int
release(void **state)
{
	struct written *written = *state;

	wallsample__pprof__profile__free_unpacked(written->message, NULL);
	view_free(written->view);
	profile_free(written->profile);
	modules_free(written->modules);
	free(written);
	return 0;
}

static const char *
text(const struct written *written, int64_t number)
{
	assert_true(number >= 0 && (size_t)number < written->message->n_string_table);
	return written->message->string_table[number];
}

static const Wallsample__Pprof__Location *
location(const struct written *written, uint64_t id)
{
	for (size_t i = 0; i < written->message->n_location; i++)
		if (written->message->location[i]->id == id)
			return written->message->location[i];
	print_error("there is no location %d\n", (int)id);
	abort();
}

static const Wallsample__Pprof__Function *
function(const struct written *written, const Wallsample__Pprof__Location *at, size_t line)
{
	assert_true(line < at->n_line);
	for (size_t i = 0; i < written->message->n_function; i++)
		if (written->message->function[i]->id == at->line[line]->function_id)
			return written->message->function[i];
	print_error("a line names a function that is not there\n");
	abort();
}

/* --- the tests ----------------------------------------------------------------------------- */

static void
test_head(void **state)
{
	const struct written *written = *state;
	const Wallsample__Pprof__Profile *message = written->message;

	assert_string_equal(text(written, 0), "");
	assert_int_equal(message->n_sample_type, 3);
	assert_string_equal(text(written, message->sample_type[0]->type), "wall");
	assert_string_equal(text(written, message->sample_type[1]->type), "cpu");
	assert_string_equal(text(written, message->sample_type[2]->type), "latency");
	assert_string_equal(text(written, message->sample_type[2]->unit), "nanoseconds");
	assert_string_equal(text(written, message->default_sample_type), "cpu");
	assert_int_equal(message->period, 10 * MS);
	assert_int_equal(message->duration_nanos, 3 * NS_PER_SEC);
	assert_int_equal(message->n_comment, 3);
	assert_string_equal(text(written, message->comment[1]), "process 7: a\\xff\\x0a");
}

static void
test_samples(void **state)
{
	const struct written *written = *state;
	const Wallsample__Pprof__Profile *message = written->message;

	assert_int_equal(message->n_sample, 5);
	for (int w = 0; w < WEIGHT_COUNT; w++) {
		int64_t sum = 0;

		for (size_t i = 0; i < message->n_sample; i++)
			sum += message->sample[i]->value[w];
		assert_int_equal(sum, view_total_ns(written->view, (enum weight)w));
	}
	assert_string_equal(text(written, message->sample[0]->label[0]->key), "thread");
	assert_string_equal(text(written, message->sample[0]->label[0]->str), "main\\x1b\\xff");
	assert_string_equal(text(written, message->sample[0]->label[1]->key), "tid");
	assert_int_equal(message->sample[0]->label[1]->num, 7);
	assert_string_equal(text(written, message->sample[0]->label[2]->str), "sleeping");
	assert_int_equal(message->sample[0]->n_label, 4);
	assert_string_equal(text(written, message->sample[0]->label[3]->str), "futex");
	assert_int_equal(message->sample[1]->n_label, 3);
	assert_int_equal(message->sample[3]->n_label, 4);
	assert_string_equal(text(written, message->sample[3]->label[3]->key), "gil");
	assert_string_equal(text(written, message->sample[3]->label[3]->str), "handover");
}

static void
test_inlined(void **state)
{
	const struct written *written = *state;
	const Wallsample__Pprof__Sample *sample = written->message->sample[0];
	const Wallsample__Pprof__Location *at;

	assert_int_equal(sample->n_location_id, 3);
	assert_int_equal(sample->location_id[0], sample->location_id[1]);
	at = location(written, sample->location_id[0]);
	assert_int_equal(at->address, CODE + 0x10);
	assert_int_equal(at->n_line, 3);
	assert_string_equal(text(written, function(written, at, 0)->name), "inner");
	assert_string_equal(text(written, function(written, at, 0)->filename), "/src/a.h");
	assert_int_equal(function(written, at, 0)->system_name, 0);
	assert_string_equal(text(written, function(written, at, 1)->system_name), "_Z6middlev");
	assert_int_equal(at->line[0]->line, 3);
	assert_string_equal(text(written, function(written, at, 2)->name), "outer");
	assert_int_equal(at->line[2]->line, 20);
	at = location(written, sample->location_id[2]);
	assert_int_equal(at->n_line, 1);
	assert_string_equal(text(written, function(written, at, 0)->name), "a\\x1b]0;\\xff\\x0a");
	assert_string_equal(text(written, function(written, at, 0)->filename), "/src/\\xfe");
}

static void
test_mappings(void **state)
{
	const struct written *written = *state;
	const Wallsample__Pprof__Mapping *program = written->message->mapping[0];
	const Wallsample__Pprof__Mapping *mapping = written->message->mapping[1];

	assert_int_equal(written->message->n_mapping, 3);
	assert_string_equal(text(written, program->filename), "/no/program");
	assert_string_equal(text(written, program->build_id), "cd01");
	assert_true(program->memory_start < program->memory_limit);
	assert_int_equal(location(written, written->message->sample[0]->location_id[0])->mapping_id,
			 mapping->id);
	assert_true(mapping->memory_start <= CODE);
	assert_true(mapping->memory_limit > CODE + 0x30);
	assert_string_equal(text(written, mapping->filename), "[jit]");
	assert_string_equal(text(written, mapping->build_id), "ab00");
	assert_true(mapping->has_functions && mapping->has_filenames);
	assert_true(mapping->has_line_numbers && mapping->has_inline_frames);
}

/* What has no code has a location without address and mapping. */
static void
test_named(void **state)
{
	const struct written *written = *state;
	static const char *const name[] = { "[no stack]", "[failed: made up]" };

	for (size_t i = 0; i < 2; i++) {
		const Wallsample__Pprof__Sample *sample = written->message->sample[2 + i];
		const Wallsample__Pprof__Location *at;

		assert_int_equal(sample->n_location_id, 1);
		at = location(written, sample->location_id[0]);
		assert_int_equal(at->address, 0);
		assert_int_equal(at->mapping_id, 0);
		assert_string_equal(text(written, function(written, at, 0)->name), name[i]);
	}
}

/*
 * Code of a file without a symbol has no name, which viewers would cut at a '.', but an address in
 * a mapping. Code that is in no file keeps its text: its mapping says nothing.
 */
static void
test_nameless(void **state)
{
	const struct written *written = *state;
	const Wallsample__Pprof__Mapping *mapping = written->message->mapping[2];
	const Wallsample__Pprof__Location *at;

	at = location(written, written->message->sample[4]->location_id[0]);
	assert_int_equal(at->address, 0x3344);
	assert_int_equal(at->mapping_id, mapping->id);
	assert_int_equal(at->n_line, 1);
	assert_int_equal(function(written, at, 0)->name, 0);
	assert_int_equal(function(written, at, 0)->system_name, 0);
	assert_string_equal(text(written, function(written, at, 0)->filename),
			    "libz.so.1.2.13+0x3320");
	assert_string_equal(text(written, mapping->filename), "/usr/lib/libz.so.1.2.13");
	assert_string_equal(text(written, mapping->build_id), "1234");
	assert_true(mapping->memory_start <= 0x3344 && mapping->memory_limit > 0x3344);
	assert_false(mapping->has_functions || mapping->has_filenames);
	at = location(written, written->message->sample[1]->location_id[0]);
	assert_string_equal(text(written, function(written, at, 0)->name), "[jit]+0x30");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_nameless),
	};

	return cmocka_run_group_tests(tests, make, release);
}
