libwallsample_a_SOURCES += \
	src/target/attach.c \
	src/target/attach_probe.c \
	src/target/attach_probe.h \
	src/target/cpus.c \
	src/target/find.c \
	src/target/image.c \
	src/target/launch.c \
	src/target/maps.c \
	src/target/maps_source.c \
	src/target/maps_source.h \
	src/target/module.c \
	src/target/module_file.c \
	src/target/module_file.h \
	src/target/process.c \
	src/target/task_file.c \
	src/target/task_file.h \
	src/target/task_stat.c
