/* SPDX-License-Identifier: MIT */
/* supervisor_internal.h - a part of the supervisor (supervisor.h). */
#ifndef WALLSAMPLE_CLI_SUPERVISOR_INTERNAL_H
#define WALLSAMPLE_CLI_SUPERVISOR_INTERNAL_H

/*
 * Moves the calling process to the root of the control groups (v2), if permitted, so that it is not
 * frozen together with wallsample. A process that is frozen there can be killed; one that a freezer
 * of v1 has frozen cannot, so that leaving that would not help.
 */
void supervisor_leave_group(void);

#endif
