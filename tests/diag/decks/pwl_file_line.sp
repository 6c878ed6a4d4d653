* the file of a PWL has a line that is no pair
V1 1 0 PWL(file=pwl_file_line.txt)
R1 1 0 1k
.tran 1n 10n
.end
