bad deck: xspice_file_param
v1 a 0 1
r1 a 0 1k
a1 %v([b]) g
.model g filesource(fil="nothere.txt")
.op
