libwallsample_a_SOURCES += \
	src/profile/profile.c src/profile/profile_parts.h \
	src/profile/profile_wait.c
