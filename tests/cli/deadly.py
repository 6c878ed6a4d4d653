"""A sweep of which some points end the processes that compute them, while there is a file `deadly`: for sweeps.py and ranks.py.

At these points the circuit has a program (d_process), which kills its parent before it answers."""
import os
import sys

BAD = [0, 1, 0, 0, 1, 0]
DECK = """some points end their process
.param bad=0 r=1k
v1 in 0 pulse(0 1 0 1n 1n 10u 20u)
r1 in out {r+bad}
c1 out 0 1n
.if (bad)
as [clk] src
ap null clk null [q] killer
.model src d_source(input_file="clock.txt")
.model killer d_process(process_file="./killer")
.endif
.tran 100n 20u
.meas tran top max v(out)
.save v(out)
.step param bad list %s
.step param r list 1k 2k
""" % ' '.join(str(b) for b in BAD)
PROGRAM = """#!%s
import os, signal
hello = os.read(0, 3)
if os.path.exists('deadly'):
    with open('deaths', 'a') as f:
        f.write('x')
    os.kill(os.getppid(), signal.SIGKILL)
os.write(1, hello)
while len(os.read(0, 8)) == 8:
    os.write(1, b'\\1')
"""


def put(folder):
    """The files beside the deck, which the caller writes."""
    for name, text in (('clock.txt', '0 0s\n1u 1s\n2u 0s\n'), ('killer', PROGRAM % sys.executable)):
        with open(os.path.join(folder, name), 'w') as f:
            f.write(text)
        os.chmod(os.path.join(folder, name), 0o755)


def deaths(folder):
    """How many processes were ended since the last call."""
    name = os.path.join(folder, 'deaths')
    n = os.path.getsize(name) if os.path.exists(name) else 0
    if n:
        os.unlink(name)
    return n
