# An object with a writable .eh_frame: linkers then put the whole section into a writable segment.
	.section .eh_frame, "aw", @progbits
	.section .note.GNU-stack, "", @progbits
