dist_man_MANS += man/wallsample.1 man/wallsample-formats.5
