* a pair that is not one ends the reading of the file; nothing of it is kept
V1 1 0 PWL(file=,)
R1 1 0 1k
.tran 1n 10n
.end
