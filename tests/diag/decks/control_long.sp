a variable that doubles
v1 1 0 1
.control
set a=xxxxxxxxxxxxxxxx
repeat 60
set a="$a$a"
end
echo $#a
.endc
