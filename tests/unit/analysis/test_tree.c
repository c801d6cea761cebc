/* SPDX-License-Identifier: MIT */
/*
 * test_tree.c - call tree and neighbours of made-up stacks of named frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/base/base.h"
#include "wallsample/analysis/tree.h"

#define MS ((int64_t)NS_PER_MS)

/* A stack of functions of one letter, outermost first. */
static void
add_sample(struct profile *profile, const char *functions, int64_t wall_ms, int64_t latency_ms)
{
	struct profile_entry sample = {
		.stack = STACK_NONE,
		.state = RUN_RUNNING,
		.samples = 1,
		.ns = { wall_ms * MS, 0, latency_ms * MS },
	};

	for (; *functions != '\0'; functions++) {
		const char name[] = { *functions, '\0' };

		sample.stack = profile_intern_stack(profile, profile_intern_named(profile, name),
						    sample.stack);
	}
	profile_add(profile, &sample);
}

struct scene {
	struct profile *profile;
	struct view *view;
};

static int
start(void **state)
{
	static const struct filter all = { 0 };
	struct scene *scene = xcalloc(1, sizeof(*scene));

	scene->profile = profile_create();
	profile_add_thread(scene->profile, 0, 300, 1, "main");
	add_sample(scene->profile, "mab", 50, 1);
	add_sample(scene->profile, "mac", 30, 2);
	add_sample(scene->profile, "ma", 5, 0);
	add_sample(scene->profile, "mbab", 10, 70);
	add_sample(scene->profile, "z", 4, 0);
	add_sample(scene->profile, "", 1, 0);
	scene->view = view_create(scene->profile, NULL, &all, VIEW_BY_FUNCTION);
	*state = scene;
	return 0;
}

static int
end(void **state)
{
	struct scene *scene = *state;

	view_free(scene->view);
	profile_free(scene->profile);
	free(scene);
	return 0;
}

/* "m95/0 ·a85/5 ··b50/50" in milliseconds, a dot a level. */
static void
check_tree(const struct view *view, enum weight weight, size_t most, double least,
	   const char *expected, size_t hidden)
{
	struct call_tree tree;
	struct strbuf sb;

	strbuf_init(&sb);
	call_tree_make(view, weight, most, least, 0, &tree);
	for (size_t i = 0; i < tree.count; i++) {
		const struct tree_node *node = &tree.node[i];

		for (uint32_t d = 0; d < node->depth; d++)
			strbuf_add_text(&sb, ".");
		strbuf_add_format(&sb, "%s%d/%d ", view_function(view, node->function)->name,
				  (int)(node->cum[weight] / MS), (int)(node->flat[weight] / MS));
		if (node->parent != TREE_NONE) {
			assert_true(node->parent < i);
			assert_int_equal(tree.node[node->parent].depth + 1, node->depth);
		} else {
			assert_int_equal(node->depth, 0);
		}
	}
	strbuf_add_text(&sb, "");
	assert_string_equal(sb.data, expected);
	assert_int_equal(tree.hidden, hidden);
	strbuf_release(&sb);
	call_tree_release(&tree);
}

static void
test_call_tree(void **state)
{
	const struct scene *scene = *state;

	check_tree(scene->view, WEIGHT_WALL, 100, 0,
		   "m95/0 .a85/5 ..b50/50 ..c30/30 .b10/0 ..a10/0 ...b10/10 z4/4 ", 0);
	check_tree(scene->view, WEIGHT_LATENCY, 100, 0,
		   "m73/0 .b70/0 ..a70/0 ...b70/70 .a3/0 ..c2/2 ..b1/1 ", 1);
	/* Whatever is left out, what is shown hangs together. */
	check_tree(scene->view, WEIGHT_WALL, 3, 0, "m95/0 .a85/5 ..b50/50 ", 5);
	check_tree(scene->view, WEIGHT_WALL, 6, 0, "m95/0 .a85/5 ..b50/50 ..c30/30 .b10/0 ..a10/0 ",
		   2);
	check_tree(scene->view, WEIGHT_WALL, 100, 0.3, "m95/0 .a85/5 ..b50/50 ..c30/30 ", 4);
	check_tree(scene->view, WEIGHT_WALL, 0, 0, "", 8);
	check_tree(scene->view, WEIGHT_CPU, 100, 0, "", 8);
}

static void
add_rows(struct strbuf *sb, const struct view *view, const struct neighbour_row *row, size_t count)
{
	for (size_t i = 0; i < count; i++)
		strbuf_add_format(sb, "%s%d ",
				  row[i].function == TREE_NONE ?
					  "-" :
					  view_function(view, row[i].function)->name,
				  (int)(row[i].ns[WEIGHT_WALL] / MS));
	strbuf_add_text(sb, "| ");
}

static void
check_neighbours(const struct view *view, const char *pattern, const char *expected)
{
	struct neighbours near;
	struct strbuf sb;
	regex_t focus;

	assert_int_equal(regcomp(&focus, pattern, REG_EXTENDED | REG_NOSUB), 0);
	strbuf_init(&sb);
	neighbours_make(view, WEIGHT_WALL, &focus, &near);
	strbuf_add_format(&sb, "%d: ", (int)(near.ns[WEIGHT_WALL] / MS));
	add_rows(&sb, view, near.caller, near.caller_count);
	add_rows(&sb, view, near.self, near.self_count);
	add_rows(&sb, view, near.callee, near.callee_count);
	assert_string_equal(sb.data, expected);
	neighbours_release(&near);
	strbuf_release(&sb);
	regfree(&focus);
}

static void
test_neighbours(void **state)
{
	const struct scene *scene = *state;

	check_neighbours(scene->view, "^a$", "95: m85 b10 | a95 | b60 c30 -5 | ");
	/* Twice in one stack: counted once, between the outermost and the innermost. */
	check_neighbours(scene->view, "^b$", "60: a50 m10 | b60 | -60 | ");
	check_neighbours(scene->view, "^[mz]$", "99: -99 | m95 z4 | a85 b10 -4 | ");
	check_neighbours(scene->view, "nobody", "0: | | | ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_call_tree, start, end),
		cmocka_unit_test_setup_teardown(test_neighbours, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
