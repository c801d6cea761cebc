/* SPDX-License-Identifier: MIT */
/* process_set_words.c - describes a target set for the head of a report. */
#include "process/process_set_internal.h"

/* Number of digits of a container id that docker ps and podman ps show. */
#define CONTAINER_DIGITS_SHOWN 12
/* Most processes given by id that are named. */
#define GIVEN_SHOWN 3

/* The words are a list, "A, B and C", whose last item needs to be known. */
struct list_words {
	struct strbuf *sb;
	size_t left; /* items that follow */
	bool began;
};

/* Adds what stands before the next item. */
static void
next_item(struct list_words *list)
{
	list->left--;
	if (list->began)
		strbuf_add_text(list->sb, list->left > 0 ? ", " : " and ");
	list->began = true;
}

static void
add_given(const struct process_set *set, struct list_words *list)
{
	if (set->given_count > GIVEN_SHOWN) {
		next_item(list);
		strbuf_add_format(list->sb, "%zu processes", set->given_count);
		return;
	}
	for (size_t i = 0; i < set->given_count; i++) {
		next_item(list);
		strbuf_add_format(list->sb, "%s (%d)", set->given[i], (int)set->given_pids[i]);
	}
}

static void
add_globs(const struct name_rules *rules, struct strbuf *sb)
{
	for (size_t i = 0; i < rules->count; i++) {
		strbuf_add_text(sb, i == 0 ? " " : i + 1 < rules->count ? ", " : " or ");
		strbuf_add_escaped(sb, rules->glob[i]);
	}
}

static void
add_groups(const struct process_set *set, struct list_words *list)
{
	for (size_t i = 0; i < set->groups.count; i++) {
		const struct group_rule *rule = &set->groups.rule[i];

		next_item(list);
		if (rule->path == NULL) {
			strbuf_add_format(list->sb, "container %.*s", CONTAINER_DIGITS_SHOWN,
					  rule->text);
			continue;
		}
		strbuf_add_text(list->sb, "cgroup ");
		strbuf_add_escaped(list->sb, rule->path);
	}
}

void
process_set_describe(const struct process_set *set, struct strbuf *sb)
{
	const size_t given = set->given_count > GIVEN_SHOWN ? 1 : set->given_count;
	const size_t items = given + (set->names.count > 0) + set->groups.count;
	struct list_words list = { .sb = sb, .left = items };

	add_given(set, &list);
	if (set->names.count > 0) {
		next_item(&list);
		strbuf_add_text(sb, "processes named");
		add_globs(&set->names, sb);
	}
	add_groups(set, &list);
	if (set->descendants)
		strbuf_add_format(sb, "%s and %s descendants", items > 1 ? "," : "",
				  items == 1 && set->given_count == 1 ? "its" : "their");
	if (set->excluded.count > 0) {
		strbuf_add_text(sb, ", except those named");
		add_globs(&set->excluded, sb);
	}
}
