/* SPDX-License-Identifier: MIT */
/* again.c - the beginning and the end of a command that reports the same program once more. */
#include <inttypes.h>
#include <string.h>

#include "cli/again_internal.h"
#include "cli/cli_internal.h"
#include "cli/target_internal.h"

/* Adds a word as a shell needs it: in single quotes unless it has harmless characters only. */
static void
add_word(struct strbuf *out, const char *word)
{
	static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789_-+=./:,@%";

	/* A name that begins with '-' would be taken for an option. */
	strbuf_add_text(out, word[0] == '-' ? " ./" : " ");
	if (word[0] != '\0' && word[strspn(word, harmless)] == '\0') {
		strbuf_add_text(out, word);
		return;
	}
	strbuf_add_text(out, "'");
	for (; *word != '\0'; word++)
		if (*word == '\'')
			strbuf_add_text(out, "'\\''");
		else
			strbuf_add(out, word, 1);
	strbuf_add_text(out, "'");
}

static void
add_list(struct strbuf *out, const char *option, const struct text_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		strbuf_add_text(out, option);
		add_word(out, list->text[i]);
	}
}

bool
again_make(const struct options *options, struct again *out)
{
	strbuf_init(&out->before);
	strbuf_init(&out->after);
	strbuf_add_format(&out->before, "wallsample%s%s", options->verb->name[0] != '\0' ? " " : "",
			  options->verb->name);
	strbuf_add_text(&out->after, "");
	if (options_are_filtered(options) || options->symfs != NULL ||
	    options->debug_dirs.count > 0 || options->from.given || options->to.given ||
	    options->parallelism.given)
		return false;
	if (options->verb->bit == FOR_REPORT) {
		for (size_t i = 0; i < options->files.count; i++)
			add_word(&out->after, options->files.text[i]);
		return options->files.count > 0;
	}
	if (options->command != NULL ||
	    (options->pids.count == 0 && options->name == NULL && !target_is_set(options)))
		return false;
	for (size_t i = 0; i < options->pids.count; i++)
		strbuf_add_format(&out->after, "%s%" PRIu64, i == 0 ? " -p " : ",",
				  options->pids.id[i]);
	if (options->name != NULL) {
		strbuf_add_text(&out->after, " --name");
		add_word(&out->after, options->name);
	}
	strbuf_add_text(&out->after, options->all ? " --all" : "");
	strbuf_add_text(&out->after, options->children ? " --children" : "");
	add_list(&out->after, " --cgroup", &options->cgroups);
	add_list(&out->after, " --container", &options->containers);
	if (options->duration_ns > 0)
		strbuf_add_format(&out->after, " -d %g",
				  (double)options->duration_ns / (double)NS_PER_SEC);
	return true;
}

void
again_release(struct again *again)
{
	strbuf_release(&again->before);
	strbuf_release(&again->after);
}
