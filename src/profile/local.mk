libwallsample_a_SOURCES += \
	src/profile/profile.c src/profile/profile_internal.h \
	src/profile/profile_wait.c
