libwallsample_a_SOURCES += \
	src/process/attach.c \
	src/process/attach_probe.c \
	src/process/attach_probe_internal.h \
	src/target/core.c \
	src/target/core_maps.c \
	src/target/core_memory.c \
	src/target/core_notes.c \
	src/target/core_parts.h \
	src/process/cpus.c \
	src/elf/elf_open.c \
	src/process/find.c \
	src/elf/pclntab_module.c \
	src/elf/pclntab.c \
	src/elf/pclntab_internal.h \
	src/elf/pclntab_values.c \
	src/elf/image.c \
	src/elf/image_section.c \
	src/jit/objects/jit_elf.c \
	src/jit/objects/jit_elf_internal.h \
	src/jit/objects/jit_frames.c \
	src/jit/objects/jit_frames_internal.h \
	src/jit/objects/jit_julia.c \
	src/jit/objects/jit_julia_internal.h \
	src/jit/objects/jit_list.c \
	src/jit/objects/jit_list_internal.h \
	src/jit/objects/jit_objects.c \
	src/jit/objects/jit_print.c \
	src/jit/objects/jit_print_internal.h \
	src/jit/objects/jit_unwind.c \
	src/jit/objects/jit_unwind_internal.h \
	src/jit/objects/jit_watch.c \
	src/jit/objects/jit_watch_internal.h \
	src/process/launch.c \
	src/process/mapping_at.c \
	src/process/mapping_place.c \
	include/wallsample/process/mapping_place.h \
	src/process/maps.c \
	src/process/maps_source.c \
	src/process/maps_source_internal.h \
	src/process/module.c \
	src/process/module_dumped.c \
	src/process/module_dumped_internal.h \
	src/process/module_file.c \
	src/process/module_file_internal.h src/process/module_recorded.c src/process/module_recorded_internal.h \
	src/process/process.c \
	src/process/procmap_internal.h \
	include/wallsample/elf/relocate.h \
	src/elf/symbol_search.c \
	src/process/task_file.c \
	src/process/task_file_internal.h \
	src/process/pid_namespace.c \
	src/process/task_stat.c
if ARCH_X86_64
libwallsample_a_SOURCES += src/elf/relocate_x86_64.c
endif
if ARCH_AARCH64
libwallsample_a_SOURCES += src/elf/relocate_aarch64.c
endif
