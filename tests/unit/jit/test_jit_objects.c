/* SPDX-License-Identifier: MIT */
/*
 * test_jit_objects.c - this program registers code with itself through the GDB JIT interface:
 * good code, and code that lies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit/objects/jit_watch_internal.h"
#include "wallsample/elf/relocate.h"
#include "unwind/rule_internal.h"
#include "../scene/made_object.h"
#include "wallsample/base/base.h"
#include "wallsample/jit/jit_objects.h"

static struct frame_budget frames = { .bytes = UINT64_MAX, .entries = UINT64_MAX };

static const struct symbol_wanted descriptor_wanted = { .name = "__jit_debug_descriptor" };

/* --- the program's side of the interface ----------------------------------- */

struct jit_descriptor __jit_debug_descriptor = { 1, 0, 0, 0 };

static uint64_t
address_of(const void *p)
{
	return (uintptr_t)p;
}

static void
enlist(struct jit_code_entry *entry, const void *file, uint64_t size)
{
	*entry = (struct jit_code_entry){
		.next = __jit_debug_descriptor.first,
		.address = address_of(file),
		.size = size,
	};
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = address_of(entry);
	__jit_debug_descriptor.action = 1;
}

static void
clear_list(void)
{
	__jit_debug_descriptor = (struct jit_descriptor){ .version = 1, .action = 2 };
}

/* --- the fixture ----------------------------------------------------------- */

struct fixture {
	struct process *process;
	struct modules *modules;
	struct maps *maps;
	struct jit_objects *objects;
	uint8_t *memory; /* where code is: a page */
	uint64_t now_ns;
	struct log log;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct error err = { 0 };

	if (!f)
		return -1;
	f->memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f->memory == MAP_FAILED || process_open(getpid(), &f->process, &err) != 0)
		return -1;
	f->log = (struct log){ .level = LOG_NORMAL, .stream = tmpfile() };
	f->modules = modules_create();
	f->maps = maps_create(f->process, f->modules);
	f->objects = jit_objects_create(f->process, f->maps, &f->log);
	f->now_ns = 1;
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	clear_list();
	jit_objects_free(f->objects);
	maps_free(f->maps);
	modules_free(f->modules);
	process_free(f->process);
	munmap(f->memory, 4096);
	fclose(f->log.stream);
	free(f);
	return 0;
}

/* Ticks, seconds apart, until nothing is left to do. */
static void
look(struct fixture *f)
{
	do {
		f->now_ns += 100 * NS_PER_SEC;
		jit_objects_tick(f->objects, f->now_ns);
	} while (jit_objects_busy(f->objects));
}

static const struct module *
module_at(const struct fixture *f, uint64_t address)
{
	const struct mapping *mapping = maps_find(f->maps, address);

	assert_non_null(mapping);
	return modules_get(f->modules, mapping->module);
}

static unsigned
warnings(const struct fixture *f)
{
	unsigned count = 0;

	rewind(f->log.stream);
	for (int c; (c = fgetc(f->log.stream)) != EOF;)
		count += c == '\n';
	return count;
}

/* --- both shapes ----------------------------------------------------------- */

/* The function's address in the file as others will see it. */
static uint64_t
function_in(const struct image *image)
{
	struct made_object file;

	assert_true(image_read_offset(image, 0, &file, sizeof(file)));
	if (file.header.e_type == ET_EXEC)
		assert_int_equal(file.section[INFO].sh_addr, 0);
	return file.symbol[2].st_value;
}

static void
test_object(void **state)
{
	struct fixture *f = *state;
	uint64_t code = address_of(f->memory), address;
	struct rule_source *source;
	struct jit_code_entry entry;
	const struct mapping *mapping;
	struct rule rule;
	struct made_object file;

	f->memory[FUNCTION_AT] = 0x5a;
	made_object_init(&file, code, code + 1024);
	enlist(&entry, &file, sizeof(file));
	look(f);
	assert_int_equal(jit_objects_count(f->objects), 1);
	mapping = maps_find(f->maps, code + FUNCTION_AT);
	assert_non_null(mapping);
	assert_int_equal(module_at(f, code + FUNCTION_AT)->kind, MODULE_JIT);
	assert_string_equal(module_at(f, code + FUNCTION_AT)->name, "[jit]");
	assert_int_equal(mapping->start, code);
	assert_int_equal(mapping->end, code + CODE_SIZE);
	assert_int_equal(mapping->bias, 0);
	assert_non_null(mapping->image);
	assert_int_equal(function_in(mapping->image), code + FUNCTION_AT);

	/* The code is what runs, not what the file has. */
	assert_true(image_read_vaddr(mapping->image, code + FUNCTION_AT, &rule.kind, 1));
	assert_int_equal(rule.kind, 0x5a);
	assert_true(image_read_offset(mapping->image, offsetof(struct made_object, info) + 4,
				      &address, sizeof(address)));
	assert_int_equal(address, code + FUNCTION_AT + 3);

	source = rule_source_open(mapping->image, &frames);
	rule_source_find(source, code + FUNCTION_AT + 5, &rule);
	assert_int_equal(rule.kind, RULE_PLAIN);
	assert_int_equal(rule.cfa_value, FRAME_SIZE);
	rule_source_find(source, code + FUNCTION_AT + FUNCTION_SIZE, &rule);
	assert_int_equal(rule.kind, RULE_NONE);
	rule_source_free(source);

	/* Beside it is what was there before. */
	assert_int_equal(module_at(f, code + CODE_SIZE)->kind, MODULE_ANONYMOUS);
	assert_int_equal(warnings(f), 0);
}

static void
test_tables_not_loaded(void **state)
{
	struct fixture *f = *state;
	uint64_t code = address_of(f->memory);
	struct rule_source *source;
	struct jit_code_entry entry;
	struct rule rule;
	struct made_object file;

	made_object_init(&file, code, 0);
	enlist(&entry, &file, sizeof(file));
	look(f);
	assert_non_null(maps_find(f->maps, code)->image);
	source = rule_source_open(maps_find(f->maps, code)->image, &frames);
	rule_source_find(source, code + FUNCTION_AT + 5, &rule);
	assert_int_equal(rule.cfa_value, FRAME_SIZE);
	rule_source_free(source);
}

/* As LuaJIT has it: addresses count from the code. */
static void
test_tables_count_from_code(void **state)
{
	struct fixture *f = *state;
	uint64_t code = address_of(f->memory);
	struct rule_source *source;
	struct jit_code_entry entry;
	struct rule rule;
	struct made_object file;

	made_object_init(&file, code, 0);
	file.section[RELA] = (Elf64_Shdr){ 0 };
	file.eh_frame[16] = 0x23; /* DW_EH_PE_textrel | DW_EH_PE_udata4 */
	file.eh_frame[32] = FUNCTION_AT;
	enlist(&entry, &file, sizeof(file));
	look(f);
	source = rule_source_open(maps_find(f->maps, code)->image, &frames);
	rule_source_find(source, code + FUNCTION_AT + 5, &rule);
	assert_int_equal(rule.cfa_value, FRAME_SIZE);
	rule_source_free(source);
}

static void
test_program(void **state)
{
	struct fixture *f = *state;
	uint64_t code = address_of(f->memory);
	const struct mapping *mapping;
	const struct module *module;
	struct jit_code_entry entry;
	struct made_object file;

	made_program_init(&file, code);
	enlist(&entry, &file, sizeof(file));
	look(f);
	mapping = maps_find(f->maps, code + 7);
	module = module_at(f, code + 7);
	assert_int_equal(module->kind, MODULE_JIT);
	assert_int_equal(function_in(module->image), code + FUNCTION_AT);
	assert_int_equal(mapping->start, code);
	assert_int_equal(mapping->end, code + CODE_SIZE);
	/* Without tables it unwinds as other code without a file; addresses stay the same. */
	assert_null(mapping->image);
	assert_int_equal(code + 7 - mapping->start + mapping->offset, code + 7);
}

/* --- what comes and goes --------------------------------------------------- */

static void
test_taken_back(void **state)
{
	struct fixture *f = *state;
	uint64_t code = address_of(f->memory), generation;
	struct jit_code_entry entry;
	struct made_object file;
	uint32_t module;

	made_object_init(&file, code, code + 1024);
	enlist(&entry, &file, sizeof(file));
	look(f);
	module = module_at(f, code)->id;
	generation = maps_generation(f->maps);
	clear_list();
	look(f);
	assert_int_equal(jit_objects_count(f->objects), 0);
	assert_int_equal(module_at(f, code)->kind, MODULE_ANONYMOUS);
	assert_int_not_equal(maps_generation(f->maps), generation);
	assert_int_equal(modules_get(f->modules, module)->kind, MODULE_JIT);
	assert_int_equal(function_in(modules_get(f->modules, module)->image), code + FUNCTION_AT);

	/* The same code again is the same module. */
	enlist(&entry, &file, sizeof(file));
	look(f);
	assert_int_equal(module_at(f, code)->id, module);
}

static void
test_quiet(void **state)
{
	struct fixture *f = *state;
	struct jit_code_entry entry;
	uint64_t generation;
	struct made_object file;

	made_object_init(&file, address_of(f->memory), 0);
	enlist(&entry, &file, sizeof(file));
	look(f);
	generation = maps_generation(f->maps);
	look(f);
	look(f);
	assert_int_equal(maps_generation(f->maps), generation);
}

/* malloc gives the place of an old file, and of its entry, to a new one of the same size. */
static void
test_replaced_in_place(void **state)
{
	struct fixture *f = *state;
	uint64_t code = address_of(f->memory);
	struct jit_code_entry entry;
	struct made_object file;

	made_object_init(&file, code, 0);
	enlist(&entry, &file, sizeof(file));
	look(f);
	assert_int_equal(module_at(f, code)->kind, MODULE_JIT);
	made_object_init(&file, code + 1024, 0);
	look(f);
	assert_int_equal(module_at(f, code)->kind, MODULE_ANONYMOUS);
	assert_int_equal(module_at(f, code + 1024)->kind, MODULE_JIT);
	assert_int_equal(jit_objects_count(f->objects), 1);
}

static void
test_newest_wins(void **state)
{
	struct fixture *f = *state;
	uint64_t code = address_of(f->memory);
	struct jit_code_entry entry[3];
	struct made_object file[3];

	for (size_t i = 0; i < 3; i++) {
		made_object_init(&file[i], code + 100 * i, 0);
		enlist(&entry[i], &file[i], sizeof(file[i]));
	}
	look(f);
	assert_int_equal(jit_objects_count(f->objects), 3);
	assert_int_equal(maps_find(f->maps, code + 200 + CODE_SIZE - 1)->start, code + 200);
	assert_int_equal(maps_find(f->maps, code + 200)->start, code + 200);
	assert_int_equal(module_at(f, code + 199)->kind, MODULE_ANONYMOUS);
}

static void
test_not_over_files(void **state)
{
	struct fixture *f = *state;
	uint64_t code = address_of(&test_not_over_files);
	struct jit_code_entry entry[2];
	struct made_object file[2];

	made_object_init(&file[0], code, 0);
	enlist(&entry[0], &file[0], sizeof(file[0]));
	made_object_init(&file[1], 0x10000, 0); /* nothing is mapped there */
	enlist(&entry[1], &file[1], sizeof(file[1]));
	look(f);
	assert_int_equal(module_at(f, code)->kind, MODULE_FILE);
	assert_null(maps_find(f->maps, 0x10000));
}

/* --- lists and files that lie ---------------------------------------------- */

static void
test_ring(void **state)
{
	struct fixture *f = *state;
	struct jit_code_entry entry[2];
	struct made_object file[2];

	for (size_t i = 0; i < 2; i++) {
		made_object_init(&file[i], address_of(f->memory) + i * CODE_SIZE, 0);
		enlist(&entry[i], &file[i], sizeof(file[i]));
	}
	entry[0].next = address_of(&entry[1]);
	look(f);
	assert_int_equal(jit_objects_count(f->objects), 2);
	entry[1].next = address_of(&entry[1]);
	look(f);
	assert_int_equal(jit_objects_count(f->objects), 1);
}

static void
test_list_into_nowhere(void **state)
{
	struct fixture *f = *state;
	struct jit_code_entry entry;
	struct made_object file;

	__jit_debug_descriptor.first = 8;
	look(f);
	assert_int_equal(jit_objects_count(f->objects), 0);
	made_object_init(&file, address_of(f->memory), 0);
	enlist(&entry, &file, sizeof(file));
	entry.next = UINT64_MAX - 4;
	look(f);
	assert_int_equal(jit_objects_count(f->objects), 1);
}

static void
test_long_list(void **state)
{
	struct fixture *f = *state;
	struct jit_code_entry *entry = calloc(JIT_OBJECTS_MAX + 100, sizeof(*entry));
	struct made_object file;

	assert_non_null(entry);
	made_object_init(&file, address_of(f->memory), 0);
	for (size_t i = 0; i < JIT_OBJECTS_MAX + 100; i++)
		enlist(&entry[i], &file, sizeof(file));
	look(f);
	assert_int_equal(jit_objects_count(f->objects), JIT_OBJECTS_MAX);
	/* All are the same code. */
	assert_int_equal(module_at(f, address_of(f->memory))->kind, MODULE_JIT);
	clear_list();
	look(f);
	assert_int_equal(jit_objects_count(f->objects), 0);
	free(entry);
}

/* Those that are not of objects. */
static size_t
kernel_mappings(const struct fixture *f)
{
	size_t count = 0;

	for (size_t i = 0; i < maps_count(f->maps); i++)
		count += modules_get(f->modules, maps_at(f->maps, i)->module)->kind != MODULE_JIT;
	return count;
}

/* An object file of nothing but pieces of code, each of a byte, from an address on. */
static uint8_t *
make_pieces(uint64_t code, uint16_t pieces, size_t *size)
{
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_REL,
		.e_machine = relocate_machine,
		.e_shoff = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = pieces,
	};
	uint8_t *file;

	*size = sizeof(header) + pieces * sizeof(Elf64_Shdr);
	file = xmalloc(*size);
	memcpy(file, &header, sizeof(header));
	for (uint16_t i = 0; i < pieces; i++) {
		const Elf64_Shdr section = {
			.sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = code + 2 * i, .sh_size = 1,
		};

		memcpy(file + sizeof(header) + i * sizeof(section), &section, sizeof(section));
	}
	return file;
}

/* The same file again and again costs little more than once. */
static void
test_many_pieces(void **state)
{
	struct fixture *f = *state;
	uint64_t code = address_of(f->memory), began = clock_own_cpu_ns();
	struct jit_code_entry *entry = calloc(JIT_OBJECTS_MAX, sizeof(*entry));
	size_t size;
	uint8_t *file = make_pieces(code, 256, &size);

	assert_non_null(entry);
	for (size_t i = 0; i < JIT_OBJECTS_MAX; i++)
		enlist(&entry[i], file, size);
	look(f);
	assert_int_equal(jit_objects_count(f->objects), JIT_OBJECTS_MAX);
	assert_int_equal(maps_count(f->maps), kernel_mappings(f) + 256);
	assert_int_equal(module_at(f, code + 2 * 255)->kind, MODULE_JIT);
	print_message("%d files of 256 pieces: %.2f s\n", JIT_OBJECTS_MAX,
		      (double)(clock_own_cpu_ns() - began) / 1e9);
	free(entry);
	free(file);
}

/* Different ones are taken until they are too many; each is told, and the first is warned of. */
static void
test_too_many_pieces(void **state)
{
	enum { FILES = 4 * JIT_OBJECTS_MAX / 256 + 2 };
	struct fixture *f = *state;
	struct jit_code_entry entry[FILES];
	uint8_t *file[FILES];

	for (size_t i = 0; i < FILES; i++) {
		size_t size;

		file[i] = make_pieces(0x10000 * (i + 1), 256, &size);
		enlist(&entry[i], file[i], size);
	}
	look(f);
	assert_int_equal(jit_objects_count(f->objects), FILES - 2);
	assert_int_equal(maps_count(f->maps), kernel_mappings(f) + 4 * JIT_OBJECTS_MAX);
	assert_int_equal(warnings(f), 1);
	for (size_t i = 0; i < FILES; i++)
		free(file[i]);
}

static void
test_sizes_that_lie(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 63, 64, 200, JIT_OBJECT_MAX_SIZE,
					  JIT_OBJECT_MAX_SIZE + 1, UINT64_MAX };
	struct fixture *f = *state;
	struct jit_code_entry entry[ARRAY_SIZE(sizes) + 3];
	struct made_object file, other;
	size_t i;

	made_object_init(&file, address_of(f->memory), 0);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		enlist(&entry[i], &file, sizes[i]);
	enlist(&entry[i++], NULL, sizeof(file));
	enlist(&entry[i++], (const void *)(UINTPTR_MAX - 10), sizeof(file));
	made_object_init(&other, address_of(f->memory), 0);
	other.header.e_machine = EM_386;
	enlist(&entry[i], &other, sizeof(other));
	look(f);
	assert_int_equal(jit_objects_count(f->objects), 0);
	assert_int_equal(warnings(f), 1);
	look(f);
	assert_int_equal(warnings(f), 1);
}

/* --- where the descriptor is ----------------------------------------------- */

static void
test_search(void **state)
{
	static const uint64_t budgets[] = { 1, 100000, UINT64_MAX };
	struct fixture *f = *state;
	const struct mapping *mapping = maps_find(f->maps, address_of(&test_search));

	assert_non_null(mapping);
	for (size_t i = 0; i < ARRAY_SIZE(budgets); i++) {
		struct symbol_search search;
		uint64_t budget;

		symbol_search_init(&search, mapping->image, &descriptor_wanted, 1);
		do
			budget = budgets[i];
		while (!symbol_search_step(&search, &budget));
		assert_non_null(symbol_search_first(&search, 0));
		assert_int_equal(symbol_search_first(&search, 0)->vaddr + mapping->bias,
				 address_of(&__jit_debug_descriptor));
	}
	/* Here is none. */
	mapping = maps_find(f->maps, address_of(&getpid));
	if (mapping != NULL && mapping->module != module_at(f, address_of(&test_search))->id) {
		struct symbol_search search;
		uint64_t budget = UINT64_MAX;

		symbol_search_init(&search, mapping->image, &descriptor_wanted, 1);
		assert_true(symbol_search_step(&search, &budget));
		assert_null(symbol_search_first(&search, 0));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_object, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tables_not_loaded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tables_count_from_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_program, setup, teardown),
		cmocka_unit_test_setup_teardown(test_taken_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_quiet, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replaced_in_place, setup, teardown),
		cmocka_unit_test_setup_teardown(test_newest_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_over_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list_into_nowhere, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_list, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sizes_that_lie, setup, teardown),
		cmocka_unit_test_setup_teardown(test_search, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
