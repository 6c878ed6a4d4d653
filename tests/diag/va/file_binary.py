import random, sys
random.seed(1)
sys.stdout.buffer.write(bytes(random.randrange(256) for _ in range(200000)))
