dist_man_MANS += man/wallsample.1
