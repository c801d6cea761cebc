libwallsample_a_SOURCES += \
	include/wallsample/process/attach.h \
	include/wallsample/process/c_library.h \
	include/wallsample/process/kernel_counters.h \
	include/wallsample/process/find.h \
	include/wallsample/process/launch.h \
	include/wallsample/process/maps.h \
	include/wallsample/process/module.h \
	include/wallsample/process/loadavg.h \
	include/wallsample/process/process.h \
	src/process/attach.c \
	src/process/attach_probe.c \
	src/process/c_library.c \
	src/process/kernel_counters.c \
	src/process/cpus.c \
	src/process/find.c \
	src/process/launch.c \
	src/process/mapping_place.c \
	src/process/maps.c \
	src/process/maps_source.c \
	src/process/process_internal.h \
	src/process/module.c \
	src/process/module_file.c \
	src/process/module_stored.c \
	src/process/loadavg.c \
	src/process/process.c \
	src/process/task_file.c \
	src/process/user.c
