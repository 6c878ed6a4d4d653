loops in loops, many turns
.for i = 1 to 2
.for j = 1 to 1001
r.{i}_{j} 1 0 bad bad
.endfor
.endfor
.end
