/* SPDX-License-Identifier: MIT */
/* script_scene.c - makes stacks from text, and defines symbols_find() for their names. */
#include "script_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/process/module.h"
#include "wallsample/base/table.h"

#define MODULES_MOST 16
#define WORD_MOST 256

/* The address of a native frame is the number, in these strings, of the text behind its '!'. */
static struct strings *functions;
static const char *modules[MODULES_MOST];

static struct strings *
texts(void)
{
	if (functions == NULL)
		functions = strings_create();
	return functions;
}

static const char *
keep(const char *from, size_t length)
{
	char text[WORD_MOST];

	assert_true(length < sizeof(text));
	memcpy(text, from, length);
	text[length] = '\0';
	return strings_text(texts(), strings_intern(texts(), text));
}

size_t
symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
	     size_t most)
{
	const char *at = strings_text(texts(), (uint32_t)place->vaddr);
	size_t count = 0;

	(void)symbols;
	for (;;) {
		const size_t length = strcspn(at, "<");
		const bool known = at[0] != '?';

		assert_true(count < most);
		out[count++] = (struct symbol){
			.function = known ? keep(at, length) : "nameless+0x40",
			.module = modules[place->module],
			.known = known,
			.inlined = at[length] == '<',
		};
		if (at[length] == '\0')
			return count;
		at += length + 1;
	}
}

void
symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count)
{
	(void)symbols;
	(void)place;
	(void)count;
}

static uint32_t
module_number(const char *name)
{
	uint32_t at = 0;

	while (modules[at] != NULL && strcmp(modules[at], name) != 0)
		at++;
	assert_true(at < MODULES_MOST - 1);
	modules[at] = name;
	return at;
}

static uint32_t
frame_of(struct profile *profile, const char *word)
{
	const char *bang = strchr(word, '!'), *at = strchr(word, '@');
	const char *colon = strrchr(word, ':');
	struct profile_frame frame = { .origin = FRAME_CFI };

	if (bang != NULL) {
		frame.module = module_number(keep(word, (size_t)(bang - word)));
		frame.address = strings_intern(texts(), bang + 1);
		return profile_intern_frame(profile, &frame);
	}
	if (at == NULL)
		return profile_intern_named(profile, word);
	assert_true(colon > at);
	return profile_intern_script(
		profile, profile_intern_text(profile, keep(word, (size_t)(at - word))),
		profile_intern_text(profile, keep(at + 1, (size_t)(colon - at - 1))),
		(uint32_t)strtoul(colon + 1, NULL, 10));
}

void
script_scene_add(struct profile *profile, const char *stack, int64_t ms)
{
	script_scene_add_wait(profile, stack, ms, 0);
}

void
script_scene_add_wait(struct profile *profile, const char *stack, int64_t ms, uint32_t wait)
{
	struct profile_entry sample = {
		.thread = profile_add_thread(profile, 0, 1, 1, "main"),
		.stack = STACK_NONE,
		.state = wait != 0 ? RUN_SLEEPING : RUN_RUNNING,
		.syscall = -1,
		.wait = wait,
		.samples = ms,
		.ns = { [WEIGHT_WALL] = ms * (int64_t)NS_PER_MS },
	};

	while (*stack != '\0') {
		const size_t length = strcspn(stack, ";");

		sample.stack = profile_intern_stack(
			profile, frame_of(profile, keep(stack, length)), sample.stack);
		stack += length;
		stack += strspn(stack, ";");
	}
	profile_add(profile, &sample);
}

char *
script_scene_fold(const struct view *view)
{
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_text(&sb, "");
	for (size_t r = 0; r < view_row_count(view); r++) {
		const struct view_row *row = view_row(view, r);

		for (size_t i = row->depth; i-- > 0;) {
			const struct view_function *f = view_function(view, row->function[i]);

			strbuf_add_text(&sb, f->name);
			if (f->needs_module)
				strbuf_add_format(&sb, " (%s)", f->module);
			strbuf_add_text(&sb, i > 0 ? ";" : "");
		}
		strbuf_add_format(&sb, " %d\n", (int)(row->ns[WEIGHT_WALL] / (int64_t)NS_PER_MS));
	}
	return sb.data;
}
