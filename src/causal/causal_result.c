/* SPDX-License-Identifier: MIT */
/* causal_result.c - fills and frees the result of experiments. */
#include "wallsample/causal/causal.h"

#include <string.h>

static bool
find_word(const char *const *words, size_t count, const char *word, size_t *out)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i], word) == 0) {
			*out = i;
			return true;
		}
	}
	return false;
}

/* Defines the functions that convert between the values of an enum and their words. */
#define CAUSAL_WORDS(name, type, LIST)                                                             \
	static const char *const name##_words[] = { LIST(WORD) };                                  \
                                                                                                   \
	const char *name##_word(type value)                                                        \
	{                                                                                          \
		return name##_words[value];                                                        \
	}                                                                                          \
                                                                                                   \
	bool name##_from_word(const char *word, type *out)                                         \
	{                                                                                          \
		size_t found;                                                                      \
                                                                                                   \
		if (!find_word(name##_words, ARRAY_SIZE(name##_words), word, &found))              \
			return false;                                                              \
		*out = (type)found;                                                                \
		return true;                                                                       \
	}

#define WORD(name, word, ...) [CAUSAL_##name] = word,
CAUSAL_WORDS(causal_point_kind, enum causal_point_kind, CAUSAL_POINT_KINDS)
CAUSAL_WORDS(causal_end, enum causal_end, CAUSAL_ENDS)
#undef WORD
#define WORD(name, word) [CAUSAL_BY_##name] = word,
CAUSAL_WORDS(causal_unit, enum causal_unit, CAUSAL_UNITS)
#undef WORD

void
causal_result_init(struct causal_result *result)
{
	memset(result, 0, sizeof(*result));
}

void
causal_result_release(struct causal_result *result)
{
	for (size_t i = 0; i < result->point_count; i++) {
		free(result->point[i].name);
		free(result->point[i].spec);
	}
	for (size_t i = 0; i < result->candidate_count; i++) {
		free(result->candidate[i].name);
		free(result->candidate[i].module);
		free(result->candidate[i].file);
	}
	free(result->candidate);
	free(result->experiment);
	free(result->command);
	causal_result_init(result);
}

uint32_t
causal_result_add_candidate(struct causal_result *result, const char *name, const char *module,
			    const char *file, uint32_t line)
{
	struct causal_candidate *candidate;

	result->candidate = xrealloc(result->candidate,
				     (result->candidate_count + 1) * sizeof(*result->candidate));
	candidate = &result->candidate[result->candidate_count];
	*candidate = (struct causal_candidate){
		.name = xstrdup(name),
		.module = xstrdup(module != NULL ? module : ""),
		.file = file != NULL ? xstrdup(file) : NULL,
		.line = line,
	};
	return (uint32_t)result->candidate_count++;
}

bool
causal_result_add_point(struct causal_result *result, const char *name, const char *spec,
			enum causal_point_kind kind)
{
	if (result->point_count == CAUSAL_POINTS_MOST)
		return false;
	result->point[result->point_count++] = (struct causal_point){
		.name = xstrdup(name),
		.spec = xstrdup(spec),
		.kind = kind,
	};
	return true;
}

struct causal_experiment *
causal_result_add_experiment(struct causal_result *result)
{
	struct causal_experiment *experiment;

	result->experiment = xgrow(result->experiment, &result->experiment_capacity,
				   result->experiment_count + 1, sizeof(*result->experiment));
	experiment = &result->experiment[result->experiment_count++];
	memset(experiment, 0, sizeof(*experiment));
	return experiment;
}
