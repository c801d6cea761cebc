libwallsample_a_SOURCES += \
	include/wallsample/recording/recording.h \
	include/wallsample/recording/recording_read.h \
	src/recording/columns_internal.h \
	src/recording/fields.c \
	src/recording/place_vfs.c \
	src/recording/reader.c \
	src/recording/reader_causal.c \
	src/recording/reader_cost.c \
	src/recording/reader_file.c \
	src/recording/reader_internal.h \
	src/recording/reader_joint.c \
	src/recording/reader_joint_internal.h \
	src/recording/reader_load.c \
	src/recording/reader_names.c \
	src/recording/reader_rows.c \
	src/recording/reader_spans.c \
	src/recording/reader_ticks.c \
	src/recording/recorder.c \
	src/recording/recorder_causal.c \
	src/recording/recorder_file.c \
	src/recording/recorder_internal.h \
	src/recording/recorder_rows.c \
	src/recording/recording_internal.h \
	src/recording/schema.c \
	src/recording/schema_internal.h \
	src/recording/spans.c
