/* SPDX-License-Identifier: MIT */
/*
 * debug_scene.c - makes programs and debug files, and opens them as modules.
 */
#include "debug_scene.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "wallsample/base/base.h"

char scene_dir[64];

/* The texts that scene_path() has returned; scene_teardown() frees them. */
static char *paths[256];
static size_t path_count;

int
scene_setup(void **state)
{
	(void)state;
	snprintf(scene_dir, sizeof(scene_dir), "/tmp/wallsample-debug-XXXXXX");
	return mkdtemp(scene_dir) != NULL ? 0 : -1;
}

int
scene_teardown(void **state)
{
	char command[96];

	(void)state;
	while (path_count > 0)
		free(paths[--path_count]);
	snprintf(command, sizeof(command), "rm -rf '%s'", scene_dir);
	return system(command) == 0 ? 0 : -1;
}

void
scene_needs(const char *tool)
{
	char command[96];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", tool);
	if (system(command) != 0)
		skip();
}

void
scene_run(const char *fmt, ...)
{
	struct strbuf command;
	char line[2048];
	va_list args;
	int status;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	strbuf_init(&command);
	strbuf_add_format(&command, "cd '%s' && { %s\n}", scene_dir, line);
	status = system(command.data);
	if (status != 0)
		print_error("%s: %d\n", line, status);
	strbuf_release(&command);
	assert_int_equal(status, 0);
}

const char *
scene_path(const char *name)
{
	struct strbuf path;

	assert_true(path_count < ARRAY_SIZE(paths));
	strbuf_init(&path);
	strbuf_add_format(&path, "%s/%s", scene_dir, name);
	paths[path_count++] = path.data;
	return path.data;
}

struct module *
scene_module(const char *name)
{
	struct module *module = xcalloc(1, sizeof(*module));
	struct strbuf path;

	strbuf_init(&path);
	strbuf_add_format(&path, "/%s", name);
	module->path = path.data;
	module->name = strrchr(module->path, '/') + 1;
	module->kind = MODULE_FILE;
	module->image = image_open_fd(open(scene_path(name), O_RDONLY | O_CLOEXEC), NULL);
	assert_non_null(module->image);
	return module;
}

void
scene_module_free(struct module *module)
{
	image_free(module->image);
	free(module->path);
	free(module);
}

const char *
scene_id(const struct module *module, bool slash)
{
	static char text[2 * IMAGE_BUILD_ID_MAX + 2];
	char *to = text;

	for (size_t i = 0; i < module->image->build_id_size; i++)
		to += snprintf(to, 4, i == 0 && slash ? "%02x/" : "%02x",
			       module->image->build_id[i]);
	return text;
}

void
scene_compile(const char *name, const char *flags)
{
	scene_needs("cc");
	scene_run("printf 'struct pair { int first, second; } of_%s;\\n"
		  "__attribute__((noinline)) int marker(struct pair *p)\\n"
		  "{ return p->first * 3 + p->second; }\\n"
		  "int main(int c, char **v) { (void)v; of_%s.first = c; "
		  "return marker(&of_%s); }\\n' >%s.c", name, name, name, name);
	scene_run("cc -O1 -Wl,--build-id %s -o %s %s.c", flags, name, name);
}

void
scene_open(struct scene_open *scene, const char *name,
	   const struct debug_files_config *config)
{
	struct debug_files_config used = { 0 };

	if (config != NULL)
		used = *config;
	*scene = (struct scene_open){ .log = { .level = LOG_NORMAL } };
	scene->log.stream = open_memstream(&scene->said, &scene->said_size);
	assert_non_null(scene->log.stream);
	used.log = &scene->log;
	scene->module = scene_module(name);
	scene->files = debug_files_create(&used);
	debug_file_open(scene->files, scene->module, &scene->file);
}

void
scene_open_jit(struct scene_open *scene)
{
	debug_file_close(&scene->file);
	scene->module->kind = MODULE_JIT;
	debug_file_open(scene->files, scene->module, &scene->file);
}

void
scene_close(struct scene_open *scene)
{
	debug_file_close(&scene->file);
	debug_files_free(scene->files);
	scene_module_free(scene->module);
	fclose(scene->log.stream);
	free(scene->said);
}

int
scene_said(struct scene_open *scene, const char *text)
{
	int count = 0;

	fflush(scene->log.stream);
	for (const char *at = scene->said; at != NULL && (at = strstr(at, text)) != NULL; at++)
		count++;
	return count;
}

struct search {
	const char *name;
	bool found;
};

static int
is_searched(Dwarf_Die *function, void *context)
{
	struct search *search = context;
	const char *name = dwarf_diename(function);
	Dwarf_Addr low;
	int line;

	if (name == NULL || strcmp(name, search->name) != 0 ||
	    dwarf_lowpc(function, &low) != 0 || dwarf_decl_line(function, &line) != 0 ||
	    line == 0)
		return DWARF_CB_OK;
	search->found = true;
	return DWARF_CB_ABORT;
}

bool
scene_has_function(struct scene_open *scene, const char *function)
{
	Dwarf *dwarf = debug_file_dwarf(scene->files, &scene->file);
	struct search search = { .name = function };
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;

	if (dwarf == NULL)
		return false;
	while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0) {
		debug_file_split(scene->files, &scene->file, cu);
		if (dwarf_cu_info(cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
		    split.addr != NULL)
			die = split;
		dwarf_getfuncs(&die, is_searched, &search, 0);
	}
	debug_file_dwarf_end(scene->files, &scene->file, dwarf);
	return search.found;
}

bool
scene_has_symbol(Elf *elf, const char *function)
{
	Elf_Scn *scn = NULL;

	while (elf != NULL && (scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Sym symbol;

		if (gelf_getshdr(scn, &header) == NULL || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (name != NULL && strcmp(name, function) == 0)
				return true;
		}
	}
	return false;
}
