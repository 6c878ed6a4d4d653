* diode_cv
.lib "$PDK/ngspice/models/cornerDIO.lib" dio_@corner@
.options reltol=1e-7 abstol=1e-16 vntol=1e-10 chgtol=1e-20 gmin=1e-15
* C-V: bias index q; i(v..) of a 1 V ac source
vq1 q1 0 dc -8 ac 1
va1 q1 a1 dc 0
x1 a1 0 dantenna l=5u w=2u
va2 q1 a2 dc 0
x2 a2 0 dpantenna l=5u w=2u
va3 q1 a3 dc 0
x3 a3 0 0 isolbox w=20u l=10u
va4 0 a4 dc 0
x4 q1 a4 0 isolbox w=20u l=10u xd=1u
va5 q1 a5 dc 0
x5 0 a5 0 diodevdd_2kv
va6 q1 a6 dc 0
x6 0 a6 0 diodevss_2kv
vq2 q2 0 dc -4 ac 1
va7 q2 a7 dc 0
x7 a7 0 dantenna l=5u w=2u
va8 q2 a8 dc 0
x8 a8 0 dpantenna l=5u w=2u
va9 q2 a9 dc 0
x9 a9 0 0 schottky_nbl1 Nx=4 Ny=2
va10 q2 a10 dc 0
x10 a10 0 0 isolbox w=20u l=10u
va11 0 a11 dc 0
x11 q2 a11 0 isolbox w=20u l=10u xd=1u
va12 q2 a12 dc 0
x12 0 a12 0 diodevdd_2kv
va13 q2 a13 dc 0
x13 0 a13 0 diodevss_2kv
vq3 q3 0 dc -1 ac 1
va14 q3 a14 dc 0
x14 a14 0 dantenna l=5u w=2u
va15 q3 a15 dc 0
x15 a15 0 dpantenna l=5u w=2u
va16 q3 a16 dc 0
x16 a16 0 0 schottky_nbl1 Nx=4 Ny=2
va17 q3 a17 dc 0
x17 a17 0 0 isolbox w=20u l=10u
va18 0 a18 dc 0
x18 q3 a18 0 isolbox w=20u l=10u xd=1u
va19 q3 a19 dc 0
x19 0 a19 0 diodevdd_2kv
va20 q3 a20 dc 0
x20 0 a20 0 diodevss_2kv
vq4 q4 0 dc 0 ac 1
va21 q4 a21 dc 0
x21 a21 0 dantenna l=5u w=2u
va22 q4 a22 dc 0
x22 a22 0 dpantenna l=5u w=2u
va23 q4 a23 dc 0
x23 a23 0 0 schottky_nbl1 Nx=4 Ny=2
va24 q4 a24 dc 0
x24 a24 0 0 isolbox w=20u l=10u
va25 q4 a25 dc 0
x25 0 a25 0 isolbox w=20u l=10u xd=1u
va26 q4 a26 dc 0
x26 0 a26 0 diodevdd_2kv
va27 q4 a27 dc 0
x27 0 a27 0 diodevss_2kv
vq5 q5 0 dc 0.4 ac 1
va28 q5 a28 dc 0
x28 a28 0 dantenna l=5u w=2u
va29 q5 a29 dc 0
x29 a29 0 dpantenna l=5u w=2u
va30 q5 a30 dc 0
x30 a30 0 0 schottky_nbl1
va31 q5 a31 dc 0
x31 a31 0 0 isolbox w=20u l=10u
va32 q5 a32 dc 0
x32 0 a32 0 isolbox w=20u l=10u xd=1u
va33 q5 a33 dc 0
x33 0 a33 0 diodevdd_2kv
va34 q5 a34 dc 0
x34 0 a34 0 diodevss_2kv
.save i(va1) i(va2) i(va3) i(va4) i(va5) i(va6) i(va7) i(va8) i(va9) i(va10) i(va11) i(va12) i(va13) i(va14) i(va15) i(va16) i(va17) i(va18) i(va19)
+ i(va20) i(va21) i(va22) i(va23) i(va24) i(va25) i(va26) i(va27) i(va28) i(va29) i(va30) i(va31) i(va32) i(va33) i(va34)
.ac dec 1 1meg 100meg
.end
