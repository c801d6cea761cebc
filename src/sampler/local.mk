libwallsample_a_SOURCES += \
	src/sampler/charge.c src/sampler/charge_internal.h src/sampler/pace_internal.h \
	src/sampler/pending.c src/sampler/pending_internal.h \
	src/sampler/collect.c \
	src/core/core_sample.c \
	src/core/core_waits.c src/core/core_waits_internal.h \
	src/sampler/waits/crowds.c \
	src/sampler/waits/crowds_internal.h \
	src/sampler/waits/deadlock.c src/sampler/waits/deadlock_internal.h \
	src/sampler/hold/hold.c \
	src/sampler/hold/hold_internal.h \
	src/sampler/hold/hold_late.c src/sampler/hold/hold_late_internal.h \
	src/sampler/late.c \
	src/sampler/leader.c \
	src/sampler/look.c \
	src/sampler/pace.c \
	src/sampler/priority.c src/sampler/priority_internal.h \
	src/sampler/waits/rings.c include/wallsample/sampler/rings.h \
	src/sampler/sampler.c \
	src/sampler/sampler_internal.h \
	src/sampler/stops.c \
	include/wallsample/sampler/stack.h \
	src/sampler/stack.c \
	src/sampler/tasks/task_held.c src/sampler/tasks/task_sample.c src/sampler/tasks/task_stack.c \
	src/sampler/tasks/tasks.c src/sampler/tasks/tasks_internal.h \
	src/sampler/threads.c \
	src/sampler/tracked_internal.h \
	src/sampler/tasks/thread_tasks.c \
	src/sampler/waits/thread_wait.c include/wallsample/sampler/thread_wait.h src/sampler/waits/thread_wait_object.c
