/* SPDX-License-Identifier: MIT */
/*
 * test_eustack.c - the stack of a blocked thread is the one that eu-stack sees.
 *
 * eu-stack stops the threads and has all their registers; wallsample reads them without
 * either. It is kept from looking for separate debug files, so that both know the same names.
 * Where one address has several names that differ in decoration only, any will do.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folded.h"

#define FRAMES_MOST 64

struct stack {
	char *frame[FRAMES_MOST]; /* innermost first; "" where there is no name */
	size_t depth;
};

/* What eu-stack prints about the process. */
static char *
eu_stack_output(pid_t pid)
{
	char command[128];
	size_t length = 0, capacity = 1 << 20;
	char *text = calloc(1, capacity);

	snprintf(command, sizeof(command),
		 "DEBUGINFOD_URLS= eu-stack --debuginfo-path=/nonexistent -p %d 2>&1", (int)pid);
	FILE *pipe = popen(command, "r");
	if (text == NULL || pipe == NULL)
		harness_die("cannot run eu-stack");
	size_t n;
	while ((n = fread(text + length, 1, capacity - length - 1, pipe)) > 0)
		length += n;
	pclose(pipe);
	return text;
}

/* The frames behind "TID n:", lines "#0  0xaddress name" or without a name. */
static bool
find_stack(char *text, pid_t tid, struct stack *stack)
{
	char heading[32];

	stack->depth = 0;
	snprintf(heading, sizeof(heading), "TID %d:\n", (int)tid);
	char *at = strstr(text, heading);
	if (at == NULL)
		return false;
	at = strchr(at, '\n') + 1;
	while (*at == '#' && stack->depth < FRAMES_MOST) {
		const size_t length = strcspn(at, "\n");
		char *line = strndup(at, length);
		char *name = strstr(line, "0x");
		if (name != NULL)
			name += strcspn(name, " ");
		if (name != NULL)
			name += strspn(name, " ");
		stack->frame[stack->depth++] = strdup(name != NULL ? name : "");
		free(line);
		at += length + (at[length] == '\n');
	}
	return stack->depth > 0;
}

static void
release(struct stack *stack)
{
	for (size_t i = 0; i < stack->depth; i++)
		free(stack->frame[i]);
	stack->depth = 0;
}

/*
 * A name without the decoration that one and the same function has in several forms:
 * "__libc_fcntl64" is fcntl. Stores how long what is left of it is.
 */
static const char *
plain(const char *name, size_t *length)
{
	name += strspn(name, "_");
	if (strncmp(name, "GI_", 3) == 0)
		name += 3;
	name += strspn(name, "_");
	if (strncmp(name, "libc_", 5) == 0)
		name += 5;
	*length = strcspn(name, "@");
	if (*length > 2 && strncmp(name + *length - 2, "64", 2) == 0)
		*length -= 2;
	if (*length > 5 && strncmp(name + *length - 5, "_impl", 5) == 0)
		*length -= 5;
	return name;
}

static bool
same_frame(const char *ours, const char *theirs)
{
	size_t our_length, their_length;

	/* They have no symbol for it; we may have, from a debug file. */
	if (theirs[0] == '\0')
		return true;
	ours = plain(ours, &our_length);
	theirs = plain(theirs, &their_length);
	return our_length == their_length && strncmp(ours, theirs, our_length) == 0;
}

static void
compare(const struct folded *folded, char *text, pid_t tid)
{
	const struct folded_line *ours = NULL;
	struct stack theirs;
	bool same;

	for (size_t i = 0; i < folded->count; i++)
		if (folded->line[i].tid == tid &&
		    (ours == NULL || folded->line[i].weight_us > ours->weight_us))
			ours = &folded->line[i];
	if (!CHECK(ours != NULL, "thread %d was not sampled", (int)tid) ||
	    !CHECK(find_stack(text, tid, &theirs), "eu-stack does not know thread %d", (int)tid))
		return;
	same = ours->depth == theirs.depth;
	for (size_t i = 0; same && i < theirs.depth; i++)
		same = same_frame(ours->frame[ours->depth - 1 - i], theirs.frame[i]);
	if (!CHECK(same, "%s: eu-stack sees another stack:", ours->thread)) {
		folded_print(folded, tid, 4);
		for (size_t i = theirs.depth; i-- > 0;)
			printf("%s%s", theirs.frame[i][0] ? theirs.frame[i] : "?",
			       i > 0 ? ";" : "\n");
	}
	release(&theirs);
}

/* All threads that sleep, of a target in which none comes or goes. */
static void
compare_all(const char *program, const char *one, const char *two, const char *three)
{
	struct target target;
	struct folded folded;
	pid_t tids[256];

	harness_case("%s %s", program, one != NULL ? one : "");
	target_start(&target, program, one, two, three, NULL);
	const size_t count = inspect_threads(target.pid, tids, 256);
	folded_sample(&folded, target.pid, "-r", "50", "-d", "400ms", "--no-inlines", NULL);
	char *text = eu_stack_output(target.pid);
	for (size_t i = 0; i < count; i++)
		if (inspect_state(target.pid, tids[i]) != 'R')
			compare(&folded, text, tids[i]);
	free(text);
	folded_release(&folded);
	target_finish(&target, NULL);
}

int
main(void)
{
	if (system("eu-stack --version >/dev/null 2>&1") != 0) {
		printf("SKIP: there is no eu-stack\n");
		return 77;
	}
	harness_begin(60);
	compare_all("calls_restart", NULL, NULL, NULL);
	compare_all("calls_parked", NULL, NULL, NULL);
	compare_all("shape", "basic", NULL, NULL);
	compare_all("shape", "odd", NULL, NULL);
	compare_all("shape_fp", "basic", NULL, NULL);
	compare_all("shape_fp", "odd", NULL, NULL);
	compare_all("crowd", "0", "0", "20");
	return harness_end();
}
