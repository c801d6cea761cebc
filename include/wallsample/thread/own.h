/* SPDX-License-Identifier: MIT */
/* own.h - reads what the scheduler says about the calling thread, from its files in /proc. */
#ifndef WALLSAMPLE_THREAD_OWN_H
#define WALLSAMPLE_THREAD_OWN_H

#include <stdbool.h>
#include <stdint.h>

struct own_thread {
	/* files "schedstat" and "sched" of the thread; -1: the file cannot be opened */
	int delay_fd, switch_fd;
};

/* Opens the files of the calling thread; to be closed with own_thread_close. Another thread may
 * read them, too. */
void own_thread_open(struct own_thread *own);
void own_thread_close(struct own_thread *own);
/* Returns the time in ns for which the thread has waited for a CPU since it began; 0 where the
 * kernel does not count it. Takes half a microsecond. */
uint64_t own_thread_delay(const struct own_thread *own);
/* Returns the moment at which the thread got its CPU, as watch_read_switch (state.h) does; 0: not
 * known. Valid until the next scheduler tick or wake-up on that CPU. Takes 3 us. */
uint64_t own_thread_switch(const struct own_thread *own);

#endif
