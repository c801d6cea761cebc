/* SPDX-License-Identifier: MIT */
/* julia_module.c - finds Julia's variables and version in a file. */
#include "runtime/julia/julia_find_internal.h"

#include <elf.h>
#include <string.h>

#include "wallsample/base/base.h"

/* Bytes of a function that returns a small number, with or without a frame. */
#define CODE_MOST 16

enum { THREADS, COUNT, NOTHING, BASE, MINOR, OWN_MINOR, PATCH, OWN_PATCH };

/* Since 1.7 functions of libjulia-internal have the prefix i: libjulia exports them without it. */
static const struct symbol_wanted wanted[] = {
	[THREADS] = { .name = "jl_all_tls_states" },
	[COUNT] = { .name = "jl_n_threads" },
	[NOTHING] = { .name = "jl_nothing" },
	[BASE] = { .name = "jl_base_module" },
	[MINOR] = { .name = "jl_ver_minor", .code = true },
	[OWN_MINOR] = { .name = "ijl_ver_minor", .code = true },
	[PATCH] = { .name = "jl_ver_patch", .code = true },
	[OWN_PATCH] = { .name = "ijl_ver_patch", .code = true },
};

bool
julia_module_is_named(const struct module *module)
{
	return module->kind == MODULE_FILE && strstr(module->name, "libjulia") != NULL;
}

void
julia_module_search_init(struct julia_module_search *search, const struct module *module)
{
	*search = (struct julia_module_search){ .module = module };
	symbol_search_init(&search->symbols, module->image, wanted, ARRAY_SIZE(wanted));
}

/* --- the version ------------------------------------------------------------------------- */

/* Decodes the result of a function that only returns it: mov $number, %eax; or xor %eax, %eax. */
static bool
decode_returned_x86_64(const uint8_t code[CODE_MOST], uint32_t *number)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t frame[] = { 0x55, 0x48, 0x89, 0xe5 };
	size_t at = 0;

	if (memcmp(code, endbr, sizeof(endbr)) == 0)
		at += sizeof(endbr);
	if (memcmp(code + at, frame, sizeof(frame)) == 0)
		at += sizeof(frame);
	*number = 0;
	if (code[at] == 0x31 && code[at + 1] == 0xc0)
		return true;
	memcpy(number, code + at + 1, sizeof(*number));
	return code[at] == 0xb8;
}

/* Decodes mov w0, #number, possibly after bti. */
static bool
decode_returned_aarch64(const uint8_t code[CODE_MOST], uint32_t *number)
{
	uint32_t word[2];

	memcpy(word, code, sizeof(word));
	if (word[0] == 0xd503245f)
		word[0] = word[1];
	*number = word[0] >> 5 & 0xffff;
	return (word[0] & 0xffe0001f) == 0x52800000;
}

static bool
decode_returned(const struct julia_module_search *search, size_t one, size_t other,
		uint32_t *number)
{
	const struct image *image = search->module->image;
	const struct symbol_search_found *symbol = symbol_search_first(&search->symbols, other);
	uint8_t code[CODE_MOST];

	if (symbol == NULL)
		symbol = symbol_search_first(&search->symbols, one);
	if (symbol == NULL || !image_read_vaddr(image, symbol->vaddr, code, sizeof(code)))
		return false;
	return (image->machine == EM_AARCH64 ? decode_returned_aarch64 :
					       decode_returned_x86_64)(code, number) &&
	       *number < 256;
}

/* Major versions other than 1 are not supported. Since 1.6 libjulia's functions only forward calls,
 * and yield no version. */
static uint32_t
find_version(const struct julia_module_search *search)
{
	uint32_t minor, patch;

	if (!decode_returned(search, MINOR, OWN_MINOR, &minor) ||
	    !decode_returned(search, PATCH, OWN_PATCH, &patch))
		return 0;
	return JULIA_VERSION(1, minor, patch);
}

/* --- all of it --------------------------------------------------------------------------- */

static uint64_t
variable_address(const struct julia_module_search *search, size_t index)
{
	const struct symbol_search_found *symbol = symbol_search_first(&search->symbols, index);

	return symbol != NULL ? symbol->vaddr : 0;
}

bool
julia_module_search_step(struct julia_module_search *search, uint64_t *budget)
{
	if (!symbol_search_step(&search->symbols, budget))
		return false;
	search->found = (struct julia_module){
		.threads = variable_address(search, THREADS),
		.count = variable_address(search, COUNT),
		.nothing = variable_address(search, NOTHING),
		.base = variable_address(search, BASE),
		.version = find_version(search),
	};
	return true;
}
