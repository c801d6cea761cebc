libwallsample_a_SOURCES += \
	include/wallsample/runtime/gil.h \
	include/wallsample/runtime/language.h \
	include/wallsample/runtime/locks.h \
	include/wallsample/runtime/runtime.h \
	include/wallsample/runtime/async_tasks.h \
	include/wallsample/runtime/green_task.h \
	src/runtime/finder.c \
	src/runtime/finder_internal.h \
	src/runtime/gil.c \
	src/runtime/go/go.c \
	src/runtime/go/go_file.c \
	src/runtime/go/go_find.c \
	src/runtime/go/go_find_internal.h \
	src/runtime/go/go_fit.c \
	src/runtime/go/go_internal.h \
	src/runtime/go/go_language.c \
	src/runtime/go/go_layout.c \
	src/runtime/go/go_scan.c \
	src/runtime/go/go_task.c \
	src/runtime/go/go_threads.c \
	src/runtime/go/go_poll.c \
	src/runtime/go/go_words.c \
	src/runtime/instances.c \
	src/runtime/julia/julia.c \
	src/runtime/julia/julia_find.c \
	src/runtime/julia/julia_internal.h \
	src/runtime/julia/julia_language.c \
	src/runtime/julia/julia_layout.c \
	src/runtime/julia/julia_queues.c \
	src/runtime/julia/julia_tasks.c \
	src/runtime/language.c \
	src/runtime/language_match.c \
	src/runtime/languages.c \
	src/runtime/languages_internal.h \
	src/runtime/member_internal.h \
	src/runtime/pages.c \
	src/runtime/pages_internal.h \
	src/runtime/places.c \
	src/runtime/pthread_tid.c \
	src/runtime/python/python.c \
	src/runtime/python/python_asyncio.c \
	src/runtime/python/python_capture.c \
	src/runtime/python/python_code.c \
	src/runtime/python/python_debug_offsets.c \
	src/runtime/python/python_dwarf.c \
	src/runtime/python/python_eval.c \
	src/runtime/python/python_find.c \
	src/runtime/python/python_find_internal.h \
	src/runtime/python/python_fit.c \
	src/runtime/python/python_greenlet.c \
	src/runtime/python/python_greenlet_internal.h \
	src/runtime/python/python_capture_internal.h \
	src/runtime/python/python_internal.h \
	src/runtime/python/python_known.c \
	src/runtime/python/python_layout.c \
	src/runtime/python/python_layout_internal.h \
	src/runtime/python/python_lines.c \
	src/runtime/python/python_lock.c \
	src/runtime/python/python_merge.c \
	src/runtime/python/python_module.c \
	src/runtime/python/python_language.c \
	src/runtime/python/python_parked.c \
	src/runtime/python/python_parked_internal.h \
	src/runtime/python/python_table.c \
	src/runtime/python/python_task_layout_internal.h \
	src/runtime/python/python_tasks.c \
	src/runtime/python/python_text.c \
	src/runtime/python/python_threads.c \
	src/runtime/runtime_kind_internal.h \
	src/runtime/async_tasks.c \
	src/runtime/runtimes.c \
	src/runtime/unread.c \
	src/runtime/green_task.c
if ARCH_X86_64
libwallsample_a_SOURCES += \
	src/runtime/go/go_vdso_x86_64.c \
	src/runtime/julia/julia_context_x86_64.c \
	src/runtime/pthread_tid_x86_64.c \
	src/runtime/python/python_arch_x86_64.c
endif
if ARCH_AARCH64
libwallsample_a_SOURCES += \
	src/runtime/go/go_vdso_aarch64.c \
	src/runtime/julia/julia_context_aarch64.c \
	src/runtime/pthread_tid_aarch64.c \
	src/runtime/python/python_arch_aarch64.c
endif
