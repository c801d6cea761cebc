libwallsample_a_SOURCES += \
	include/wallsample/recording.h \
	src/recording/numbers.c src/recording/numbers.h \
	src/recording/place_vfs.c src/recording/place_vfs.h \
	src/recording/recorder.c src/recording/recorder.h \
	src/recording/recorder_file.c \
	src/recording/recorder_rows.c \
	src/recording/schema.c src/recording/schema.h \
	src/recording/spans.c src/recording/spans.h
