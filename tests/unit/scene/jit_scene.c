/* SPDX-License-Identifier: MIT */
/* jit_scene.c - makes the test process the target of its own JIT names; see the header. */
#include "jit_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int
jit_scene_start(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));
	struct error err;

	snprintf(scene->map_path, sizeof(scene->map_path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(scene->dump_path, sizeof(scene->dump_path), "/tmp/jit-%d.dump", (int)getpid());
	unlink(scene->map_path);
	unlink(scene->dump_path);
	assert_int_equal(process_open(getpid(), &scene->process, &err), 0);
	scene->modules = modules_create();
	scene->maps = maps_create(scene->process, scene->modules);
	scene->log.level = LOG_NORMAL;
	scene->log.stream = open_memstream(&scene->said, &scene->said_size);
	scene->jit = jit_create(scene->process, scene->maps, &scene->log, NULL);
	scene->now_ns = NS_PER_SEC;
	*state = scene;
	return 0;
}

int
jit_scene_end(void **state)
{
	struct scene *scene = *state;

	jit_free(scene->jit);
	maps_free(scene->maps);
	modules_free(scene->modules);
	process_free(scene->process);
	fclose(scene->log.stream);
	free(scene->said);
	if (scene->mapped != NULL)
		munmap(scene->mapped, 4096);
	unlink(scene->map_path);
	unlink(scene->dump_path);
	free(scene);
	return 0;
}

void
write_file(const char *path, const char *mode, const void *bytes, size_t size)
{
	FILE *file = fopen(path, mode);

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

void
append(struct scene *scene, const char *text)
{
	write_file(scene->map_path, "a", text, strlen(text));
}

void
tick(struct scene *scene)
{
	scene->now_ns += NS_PER_SEC;
	jit_tick(scene->jit, scene->now_ns, false);
}

const char *
name_in(struct scene *scene, uint64_t address, uint32_t epoch)
{
	struct jit_symbol symbol;

	if (!jit_find(scene->jit, address, epoch, &symbol))
		return "-";
	assert_true(address >= symbol.start && address - symbol.start < symbol.size);
	return symbol.name;
}

const char *
name_of(struct scene *scene, uint64_t address)
{
	const char *name = name_in(scene, address, jit_epoch(scene->jit));
	const char *same = name_in(scene, address, jit_epoch_at(scene->jit, address));

	assert_string_equal(name, same);
	return name;
}

unsigned
times_said(struct scene *scene, const char *words)
{
	unsigned count = 0;

	fflush(scene->log.stream);
	for (const char *at = scene->said; (at = strstr(at, words)) != NULL; at++)
		count++;
	return count;
}

unsigned
lines_said(struct scene *scene)
{
	return times_said(scene, "\n");
}
