bad deck: couplings that inductors cannot have together
v1 a 0 1
l1 n1 0 1m
l2 n2 0 1m
l3 n3 0 4m
k1 l1 l2 0.9
k2 l2 l3 0.9
k3 l1 l3 -0.9
* two cards for one pair add up
l4 n4 0 1m
l5 n5 0 1m
k4 l4 l5 0.6
k5 l4 l5 0.6
* one card for three coils
l6 n6 0 1m
l7 n7 0 1m
l8 n8 0 1m
k6 l6 l7 l8 -0.6
* a chain, whose coils behind the next are not coupled
l9 n9 0 1m
l10 n10 0 1m
l11 n11 0 1m
k7 l9 l10 0.8
k8 l10 l11 0.8
* these can be: perfect coupling of three, the limits of -1/2 and of a chain
l12 n12 0 1m
l13 n13 0 2m
l14 n14 0 3m
k9 l12 l13 l14 1
l15 n15 0 1m
l16 n16 0 2m
l17 n17 0 3m
k10 l15 l16 l17 -0.5
l18 n18 0 1m
l19 n19 0 2m
l20 n20 0 3m
k11 l18 l19 0.7071
k12 l19 l20 -0.7071
r1 a n1 10
r2 a n2 10
r3 a n3 10
r4 a n4 10
r5 a n5 10
r6 a n6 10
r7 a n7 10
r8 a n8 10
r9 a n9 10
r10 a n10 10
r11 a n11 10
r12 a n12 10
r13 a n13 10
r14 a n14 10
r15 a n15 10
r16 a n16 10
r17 a n17 10
r18 a n18 10
r19 a n19 10
r20 a n20 10
.op
