bad deck
v1 a 0 1
r1 a b 1k
r2 b 0 1k
.control
op
echo $nix
set filetype=binery
write control_words.sp v(a)
print v(b)
setplot op7
quit 777
.endc
