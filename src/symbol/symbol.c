/* SPDX-License-Identifier: MIT */
/* symbol.c - finds the names of addresses: in a recording, of code made at run time, in files. */
#include "wallsample/symbol/symbol.h"

#include <stdlib.h>

#include "symbol/file_names_internal.h"
#include "symbol/namer_internal.h"
#include "wallsample/base/table.h"
#include "wallsample/elf/code_bytes.h"

struct symbols {
	const struct modules *modules;
	const struct symbols_config *config;
	struct debug_files *debug;
	struct strings *texts;
	struct file_names *names;
	/* Finds the names of modules with an image in another process; NULL: they are found
	 * here. */
	struct namer *namer;
	/* In that process, the configuration: that of its parent, with another log. */
	struct symbols_config delegated;
};

/* --- in the process that finds names -------------------------------------------------------- */

static void
begin_work(void *context, const struct debug_opener *opener, const struct log *log)
{
	struct symbols *symbols = context;

	symbols->delegated = *symbols->config;
	symbols->delegated.files.log = log;
	file_names_configure(symbols->names, &symbols->delegated);
	debug_files_delegate(symbols->debug, opener, log);
}

static size_t
do_find(void *context, const struct symbol_place *place, struct symbol *out)
{
	const struct symbols *symbols = context;

	return file_names_find(symbols->names, place, out, SYMBOL_CHAIN_MAX);
}

static bool
do_is_bare(void *context, uint32_t module)
{
	const struct symbols *symbols = context;

	return file_names_is_bare(symbols->names, module);
}

/* --- creation ------------------------------------------------------------------------------- */

struct symbols *
symbols_create(const struct modules *modules, const struct symbols_config *config)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));
	const struct namer_work work = {
		.begin = begin_work, .find = do_find, .is_bare = do_is_bare, .context = symbols
	};

	symbols->modules = modules;
	symbols->config = config;
	symbols->debug = debug_files_create(&config->files);
	symbols->texts = strings_create();
	symbols->names = file_names_create(modules, config, symbols->debug, symbols->texts);
	if (config->isolate)
		symbols->namer = namer_create(&work, modules, symbols->debug, config->files.log,
					      symbols->texts);
	return symbols;
}

void
symbols_free(struct symbols *symbols)
{
	if (symbols == NULL)
		return;
	namer_free(symbols->namer);
	file_names_free(symbols->names);
	debug_files_free(symbols->debug);
	strings_free(symbols->texts);
	free(symbols);
}

const struct symbols_config *
symbols_settings(const struct symbols *symbols)
{
	return symbols->config;
}

static const char *
intern(struct symbols *symbols, const char *text)
{
	return strings_text(symbols->texts, strings_intern(symbols->texts, text));
}

/* --- finding ------------------------------------------------------------------------------- */

static bool
find_in_jit(struct symbols *symbols, const struct module *module, const struct symbol_place *place,
	    struct symbol *out)
{
	const struct jit_epochs *epochs = symbols->config->jit;
	const struct jit *jit = epochs != NULL ? jit_epochs_find(epochs, place->epoch) : NULL;
	struct jit_symbol found;

	if (jit == NULL || place->data)
		return false;
	if (!jit_find_bytecode(jit, &place->bytecode, place->epoch, &found) &&
	    (module->kind != MODULE_ANONYMOUS ||
	     !jit_find(jit, place->vaddr, place->epoch, &found)))
		return false;
	*out = (struct symbol){
		.function = intern(symbols, found.name),
		.module = intern(symbols, module->name),
		.file = found.file != NULL ? intern(symbols, found.file) : NULL,
		.line = found.line,
		.source = SYMBOL_JIT,
		.known = true,
	};
	return true;
}

static size_t
find_stored(struct symbols *symbols, const struct module *module, const struct symbol_place *place,
	    struct symbol *out, size_t most)
{
	const struct symbols_config *config = symbols->config;
	size_t count = 0;

	if (config->stored != NULL)
		count = config->stored(config->stored_context, place, out, most);
	for (size_t i = 0; i < count; i++) {
		out[i].function = intern(symbols, out[i].function);
		out[i].file = out[i].file != NULL ? intern(symbols, out[i].file) : NULL;
		out[i].module = intern(symbols, module->name);
	}
	if (count > 1 && !config->inlines) {
		out[0] = out[count - 1];
		return 1;
	}
	return count;
}

/* True if another process reads the files of the module. */
static bool
is_delegated(const struct symbols *symbols, const struct module *module)
{
	return symbols->namer != NULL && module->image != NULL;
}

/* Lets the other process find names. If it cannot, the text is an address. */
static size_t
find_delegated(struct symbols *symbols, const struct module *module,
	       const struct symbol_place *place, struct symbol *out, size_t most)
{
	const char *name = intern(symbols, module->name);
	const size_t count = image_answers(module->image) ?
				     namer_find(symbols->namer, place, out, most) :
				     0;

	for (size_t i = 0; i < count; i++)
		out[i].module = name;
	if (count > 0)
		return count;
	*out = (struct symbol){
		.function = file_names_address(symbols->names, module, place->vaddr),
		.module = name,
		.source = SYMBOL_NONE,
	};
	return 1;
}

/* As symbols_find, for a place without a stored name. */
static size_t
find_name(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	  size_t most)
{
	const struct module *module = modules_at(symbols->modules, place->module);

	if (find_in_jit(symbols, module, place, out))
		return 1;
	if (is_delegated(symbols, module))
		return find_delegated(symbols, module, place, out, most);
	return file_names_find(symbols->names, place, out, most);
}

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	const struct image *image;
	struct symbol nameless;
	size_t count;

	if (place->module >= modules_count(symbols->modules)) {
		*out = (struct symbol){ .function = "[unknown]",
					.module = "",
					.source = SYMBOL_NONE };
		return 1;
	}
	count = find_stored(symbols, modules_at(symbols->modules, place->module), place, out, most);
	if (count > 0 && out[0].known)
		return count;
	/* The recording has a text without a name, which a file that is here may have. */
	nameless = count > 0 ? out[0] : (struct symbol){ .function = NULL };
	count = find_name(symbols, place, out, most);
	if (!out[0].known && nameless.function != NULL)
		out[0] = nameless;
	image = modules_at(symbols->modules, place->module)->image;
	out->follows_syscall = !out->known && !place->data && image != NULL &&
			       code_follows_syscall(image, place->vaddr);
	return count;
}

enum debuginfod_state
symbols_debuginfod_state(const struct symbols *symbols)
{
	return debug_files_servers(symbols->debug);
}

bool
symbols_module_is_bare(struct symbols *symbols, uint32_t id)
{
	if (id >= modules_count(symbols->modules))
		return true;
	if (is_delegated(symbols, modules_at(symbols->modules, id)))
		return !image_answers(modules_at(symbols->modules, id)->image) ||
		       namer_is_bare(symbols->namer, id);
	return file_names_is_bare(symbols->names, id);
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	struct symbol_place *asked;
	size_t used = 0;

	if (count == 0 || symbols->namer == NULL)
		return;
	asked = xcalloc(count + 1, sizeof(*asked));
	for (size_t i = 0; i < count; i++) {
		const struct module *module = modules_get(symbols->modules, place[i].module);
		struct symbol found;

		if (module != NULL && is_delegated(symbols, module) &&
		    image_answers(module->image) &&
		    !find_in_jit(symbols, module, &place[i], &found) &&
		    (find_stored(symbols, module, &place[i], &found, 1) == 0 || !found.known))
			asked[used++] = place[i];
	}
	namer_prepare(symbols->namer, asked, used);
	free(asked);
}
