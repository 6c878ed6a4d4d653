bad deck: files of digital parts
v1 a 0 1
r1 a 0 1k
a1 [d1 d2] src
a2 [d3] src2
a3 [d1] d2 null [d4 d5] machine
a4 [d1] d2 null [d6 d7] machine2
a5 [d8] src3
a6 [d1 d2] d9 lut
.model src d_source(input_file="xspice_stimulus.txt")
.model src2 d_source(input_file="xspice_stimulus.txt")
.model src3 d_source(input_file="xspice_absent.txt")
.model machine d_state(state_file="xspice_states.txt")
.model machine2 d_state(state_file="xspice_states2.txt")
.model lut d_lut(table_values="01")
.op
.end
