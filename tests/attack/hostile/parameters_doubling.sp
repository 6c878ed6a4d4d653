has functions that double 60 times
V1 in 0 dc 1 ac 1 pulse(0 1 0 1n 1n 10n 20n)
R1 in 0 1k
.func f0(x) {x+1}
.func f1(x) {f0(x)+f0(x)}
.func f2(x) {f1(x)+f1(x)}
.func f3(x) {f2(x)+f2(x)}
.func f4(x) {f3(x)+f3(x)}
.func f5(x) {f4(x)+f4(x)}
.func f6(x) {f5(x)+f5(x)}
.func f7(x) {f6(x)+f6(x)}
.func f8(x) {f7(x)+f7(x)}
.func f9(x) {f8(x)+f8(x)}
.func f10(x) {f9(x)+f9(x)}
.func f11(x) {f10(x)+f10(x)}
.func f12(x) {f11(x)+f11(x)}
.func f13(x) {f12(x)+f12(x)}
.func f14(x) {f13(x)+f13(x)}
.func f15(x) {f14(x)+f14(x)}
.func f16(x) {f15(x)+f15(x)}
.func f17(x) {f16(x)+f16(x)}
.func f18(x) {f17(x)+f17(x)}
.func f19(x) {f18(x)+f18(x)}
.func f20(x) {f19(x)+f19(x)}
.func f21(x) {f20(x)+f20(x)}
.func f22(x) {f21(x)+f21(x)}
.func f23(x) {f22(x)+f22(x)}
.func f24(x) {f23(x)+f23(x)}
.func f25(x) {f24(x)+f24(x)}
.func f26(x) {f25(x)+f25(x)}
.func f27(x) {f26(x)+f26(x)}
.func f28(x) {f27(x)+f27(x)}
.func f29(x) {f28(x)+f28(x)}
.func f30(x) {f29(x)+f29(x)}
.func f31(x) {f30(x)+f30(x)}
.func f32(x) {f31(x)+f31(x)}
.func f33(x) {f32(x)+f32(x)}
.func f34(x) {f33(x)+f33(x)}
.func f35(x) {f34(x)+f34(x)}
.func f36(x) {f35(x)+f35(x)}
.func f37(x) {f36(x)+f36(x)}
.func f38(x) {f37(x)+f37(x)}
.func f39(x) {f38(x)+f38(x)}
.func f40(x) {f39(x)+f39(x)}
.func f41(x) {f40(x)+f40(x)}
.func f42(x) {f41(x)+f41(x)}
.func f43(x) {f42(x)+f42(x)}
.func f44(x) {f43(x)+f43(x)}
.func f45(x) {f44(x)+f44(x)}
.func f46(x) {f45(x)+f45(x)}
.func f47(x) {f46(x)+f46(x)}
.func f48(x) {f47(x)+f47(x)}
.func f49(x) {f48(x)+f48(x)}
.func f50(x) {f49(x)+f49(x)}
.func f51(x) {f50(x)+f50(x)}
.func f52(x) {f51(x)+f51(x)}
.func f53(x) {f52(x)+f52(x)}
.func f54(x) {f53(x)+f53(x)}
.func f55(x) {f54(x)+f54(x)}
.func f56(x) {f55(x)+f55(x)}
.func f57(x) {f56(x)+f56(x)}
.func f58(x) {f57(x)+f57(x)}
.func f59(x) {f58(x)+f58(x)}
.func f60(x) {f59(x)+f59(x)}
.param p={f60(1)}
R2 in 0 {p}
B1 b 0 v=f60(v(in))
.op
.end
