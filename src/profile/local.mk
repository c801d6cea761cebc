libwallsample_a_SOURCES += \
	src/profile/profile.c
