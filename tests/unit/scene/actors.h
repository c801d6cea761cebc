/* SPDX-License-Identifier: MIT */
/*
 * actors.h - processes that fork, exec and exit at a test's command.
 *
 * The test is the child of the first actor, so that other actors are neither ancestors nor
 * descendants of the test. All actors exit when the test does. Each function returns when the actor
 * has done what it says. A failure fails the test.
 */
#ifndef TEST_ACTORS_H
#define TEST_ACTORS_H

#include <sys/types.h>

struct actor {
	pid_t pid;
	int fd; /* connection */
};

/* To be called by main() with its arguments: runs tests() in a child and returns its result, which
 * is the exit status of the program. Actors that were started by an exec do not return. */
int actors_main(int argc, char **argv, int (*tests)(void));

/* The first actor, the parent of the test. */
const struct actor *actors_first(void);

/* Forks an actor. */
struct actor actor_fork(const struct actor *parent);
/* Makes the actor the leader of a session; moves it to a process group of its session, 0: its own.
 */
void actor_new_session(const struct actor *actor);
void actor_set_group(const struct actor *actor, pid_t group);
/* Sets the command name (PR_SET_NAME). */
void actor_set_name(const struct actor *actor, const char *name);
/* Executes the program of the test. Its command name is the base name of `path`, a symbolic link
 * that is made and removed, and `word` is the first word of its command line. */
void actor_exec(struct actor *actor, const char *path, const char *word);
/* Starts a thread that sleeps; and n threads that end at once, one after the other. */
void actor_start_thread(const struct actor *actor);
void actor_run_threads(const struct actor *actor, unsigned n);
/* Uses CPU time. */
void actor_use_cpu(const struct actor *actor, unsigned ms);
/* Ends the actor, and waits until its id is not in use. */
void actor_exit(struct actor *actor);

#endif
