Twin-T notch
V1 in 0 ac 1
R1 in a 15.915k
R2 a out 15.915k
C3 a 0 20n
C1 in b 10n
C2 b out 10n
R3 b 0 7.9577k
RL out 0 10meg
.save all
.ac dec 100 100 10k
.meas ac low find vdb(out) at=100
.meas ac at_500 find vm(out) at=500
.meas ac f1 when vdb(out)=-20 fall=1
.meas ac f2 when vdb(out)=-20 rise=1
.meas ac width param='f2-f1'
.end
