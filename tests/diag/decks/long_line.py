print("title")
print("v1 a 0 1\nr1 a 0 1\n.op\nr2 a 0 " + "1+" * 500000 + "1")
