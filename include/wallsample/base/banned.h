/* SPDX-License-Identifier: MIT */
/*
 * banned.h - functions that must not be used, made into compile errors.
 *
 * Forced into every file of src/ by the Makefile (-include). The reasons: no
 * bound on what is written (strcpy, strcat, sprintf, vsprintf, gets), hidden
 * state (strtok), errors that cannot be seen (atoi, atol, atof), a clock that
 * jumps (gettimeofday), a wait for any child that no one meant (wait).
 */
#ifndef WALLSAMPLE_BASE_BANNED_H
#define WALLSAMPLE_BASE_BANNED_H

/* The system's declarations come first, or the poison would hit them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok atoi atol atoll atof gettimeofday
#pragma GCC poison vfork

#endif
