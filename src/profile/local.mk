libwallsample_a_SOURCES += \
	include/wallsample/profile/profile.h \
	include/wallsample/profile/profile_recorder.h \
	include/wallsample/profile/profile_thread.h \
	include/wallsample/profile/profile_frame.h \
	include/wallsample/profile/profile_mark.h \
	include/wallsample/profile/profile_wait.h \
	include/wallsample/profile/run_stats.h \
	src/profile/profile.c \
	src/profile/profile_internal.h \
	src/profile/profile_mark.c \
	src/profile/profile_parallelism.c \
	src/profile/profile_names.c \
	src/profile/profile_sums.c \
	src/profile/run_stats.c
