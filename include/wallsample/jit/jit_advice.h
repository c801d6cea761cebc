/* SPDX-License-Identifier: MIT */
/* jit_advice.h - how to make programs write the names of the code that they generate. */
#ifndef WALLSAMPLE_JIT_JIT_ADVICE_H
#define WALLSAMPLE_JIT_JIT_ADVICE_H

#include <stdbool.h>
#include <sys/types.h>

#include "wallsample/base/base.h"
#include "wallsample/process/module.h"

/*
 * Adds how the process `pid` can be made to write the names of its generated code: "Java: jcmd 4711
 * Compiler.perfmap (JDK 17 or later), then sample again". If `pid` is 0, the text has the word PID
 * in place of the number. The advice is that for the first module of the table that belongs to a
 * known compiler. Returns false and adds nothing if no module belongs to one.
 */
bool jit_add_advice(const struct modules *modules, pid_t pid, struct strbuf *out);

#endif
