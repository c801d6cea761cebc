/* SPDX-License-Identifier: MIT */
/* export.c - the registry of output formats. */
#include "wallsample/format/exporters.h"

#include <string.h>

#include "wallsample/report/report.h"
#include "wallsample/web/html.h"

/* clang-format off */
const struct exporter *const exporters[] = {
	&exporter_text,
	&exporter_folded,
	&exporter_pprof,
	&exporter_json,
	&exporter_chrome,
	&exporter_speedscope,
	&exporter_firefox,
	&exporter_perf,
	&exporter_perf_data,
	&exporter_hotspot,
	&exporter_svg,
	&exporter_markdown,
	&exporter_html,
	&exporter_latex,
	&exporter_man,
	&exporter_coz,
	NULL,
};
/* clang-format on */

const struct exporter *
exporter_by_name(const char *name)
{
	for (size_t i = 0; exporters[i] != NULL; i++)
		if (strcmp(exporters[i]->name, name) == 0)
			return exporters[i];
	return NULL;
}

/* True if `word` is in the comma-separated `list`. */
static bool
is_listed(const char *list, const char *word)
{
	const size_t length = strlen(word);

	while (*list != '\0') {
		const size_t item = strcspn(list, ",");

		if (item == length && strncmp(list, word, length) == 0)
			return true;
		list += item;
		list += *list == ',';
	}
	return false;
}

const struct exporter *
exporter_by_file(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash != NULL ? slash + 1 : file;

	/* An ending may contain a dot: the loop tries longer endings first. */
	for (const char *dot = strchr(base, '.'); dot != NULL; dot = strchr(dot + 1, '.'))
		for (size_t i = 0; dot[1] != '\0' && exporters[i] != NULL; i++)
			if (is_listed(exporters[i]->endings, dot + 1))
				return exporters[i];
	return NULL;
}

void
export_write(const struct exporter *exporter, const struct export_input *input, FILE *out)
{
	if (exporter->write_any != NULL)
		exporter->write_any(&(struct export_subject){ .report = input }, out);
	else
		exporter->write(input, out);
}

void
export_write_diff(const struct exporter *exporter, const struct diff_input *input, FILE *out)
{
	if (exporter->write_any != NULL)
		exporter->write_any(&(struct export_subject){ .diff = input }, out);
	else
		exporter->write_diff(input, out);
}

void
export_write_causal(const struct exporter *exporter, const struct causal_input *input, FILE *out)
{
	if (exporter->write_any != NULL)
		exporter->write_any(&(struct export_subject){ .causal = input }, out);
	else
		exporter->write_causal(input, out);
}
