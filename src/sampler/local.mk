libwallsample_a_SOURCES += \
	src/sampler/charge.c src/sampler/charge.h src/sampler/pace.h \
	src/sampler/pending.c src/sampler/pending.h \
	src/sampler/collect.c \
	src/sampler/core_sample.c \
	src/sampler/core_waits.c src/sampler/core_waits.h \
	src/sampler/crowds.c \
	src/sampler/crowds.h \
	src/sampler/deadlock.c src/sampler/deadlock.h \
	src/sampler/hold.c \
	src/sampler/hold.h \
	src/sampler/hold_late.c src/sampler/hold_late.h \
	src/sampler/late.c \
	src/sampler/leader.c \
	src/sampler/look.c \
	src/sampler/pace.c \
	src/sampler/priority.c src/sampler/priority.h \
	src/sampler/rings.c src/sampler/rings.h \
	src/sampler/sampler.c \
	src/sampler/sampler_state.h \
	src/sampler/stops.c \
	src/sampler/stack_state.h \
	src/sampler/stack.c \
	src/sampler/task_held.c src/sampler/task_sample.c src/sampler/task_stack.c \
	src/sampler/tasks.c src/sampler/tasks.h \
	src/sampler/threads.c \
	src/sampler/tracked.h \
	src/sampler/thread_tasks.c \
	src/sampler/thread_wait.c src/sampler/thread_wait.h src/sampler/thread_wait_object.c
