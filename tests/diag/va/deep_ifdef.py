print('`ifdef A\n' * 100000)
