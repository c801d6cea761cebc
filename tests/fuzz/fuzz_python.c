/* SPDX-License-Identifier: MIT */
/*
 * fuzz_python.c - the bytes are a file in which a CPython is looked for and, by its DWARF, the
 * layout of its structures; or they are what _PyRuntime begins with, and all of memory.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/python/python_find_internal.h"
#include "fuzz.h"
#include "wallsample/base/base.h"
#include "wallsample/dwarf/debug_file.h"

#define BASE UINT64_C(0x10000)

struct bytes {
	const uint8_t *bytes;
	size_t size;
};

static bool
read_bytes(void *context, uint64_t address, void *to, size_t size)
{
	const struct bytes *b = context;

	if (address < BASE || address - BASE > b->size || b->size - (address - BASE) < size)
		return false;
	memcpy(to, b->bytes + (address - BASE), size);
	return true;
}

static void
check(const struct python_layout *layout, struct bytes *bytes)
{
	const struct memory memory = { read_bytes, bytes };

	if (!python_layout_is_sane(layout))
		abort();
	python_layout_check(layout, BASE, &memory);
}

static void
parse(struct bytes *bytes)
{
	struct python_layout layout;
	const char *why = NULL;

	if (python_offsets_parse(bytes->bytes, bytes->size, &layout, &why))
		check(&layout, bytes);
	else if (why == NULL)
		abort();
	for (unsigned minor = PYTHON_MINOR_OLDEST;
	     python_table_read(PYTHON_VERSION(3, minor), &layout); minor++)
		check(&layout, bytes);
}

static void
search(const struct module *module)
{
	struct python_module_search search;
	uint64_t steps = 0, budget;

	python_module_search_begin(&search, module);
	do {
		budget = 1;
		if (++steps > module->image->size + 4096)
			abort();
	} while (!python_module_search_step(&search, &budget));
	if (search.found.eval_count > PYTHON_EVAL_MOST ||
	    search.found.text_count > PYTHON_MODULE_TEXTS)
		abort();
	python_module_version(&search.found);
}

static void
find_parts(const struct image *image)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		struct address_range range[PYTHON_EVAL_MOST] = {
			{ image->segment[i].vaddr, image->segment[i].mem_size / 2 },
		};

		if (python_eval_parts(image, range, 1, PYTHON_EVAL_MOST) > PYTHON_EVAL_MOST)
			abort();
	}
}

static void
read_dwarf(const struct module *module)
{
	static const struct debug_files_config config = { .root = NULL };
	struct debug_info *info = debug_info_open(module, &config);
	struct python_layout layout;

	for (unsigned minor = PYTHON_MINOR_OLDEST; info != NULL && minor < 16; minor++)
		if (python_dwarf_read(debug_info_dwarf(info), PYTHON_VERSION(3, minor), &layout) &&
		    !python_layout_is_sane(&layout))
			abort();
	debug_info_close(info);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct bytes memory = { bytes, size };
	struct module module = { .kind = MODULE_JIT, .name = "libpython3.9.so", .path = NULL };
	char path[] = "[fuzz]";

	if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
		parse(&memory);
		return 0;
	}
	module.path = path;
	module.image = image_open_memory(bytes, size);
	if (module.image == NULL)
		return 0;
	search(&module);
	find_parts(module.image);
	read_dwarf(&module);
	image_free(module.image);
	return 0;
}
