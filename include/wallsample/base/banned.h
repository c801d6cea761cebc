/* SPDX-License-Identifier: MIT */
/*
 * banned.h - turns calls of forbidden functions into compile errors.
 *
 * The Makefile includes it in every file of src/ (-include). The reasons: writes without a bound
 * (strcpy, strcat, sprintf, vsprintf, gets), hidden state (strtok), undetectable errors (atoi,
 * atol, atof), a clock that jumps (gettimeofday).
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
