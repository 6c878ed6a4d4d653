print("title")
print("v1 a 0 1\n.op\nr2 a 0 {" + "(" * 100000 + "1" + ")" * 100000 + "}")
