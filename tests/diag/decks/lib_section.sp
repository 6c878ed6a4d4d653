bad deck: lib section
v1 a 0 1
r1 a 0 1k
.lib "lib_section.inc" tf
.op
