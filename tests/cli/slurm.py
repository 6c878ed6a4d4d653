#!/usr/bin/env python3
"""docs/howto/slurm.sh on a Slurm of one node, started here for the test: own key, ports, folders.

    slurm.py VSIM      exit code 77 where there is no Slurm, or it cannot be started (slurmd wants root)"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
SCRIPT = os.path.join(ROOT, 'docs', 'howto', 'slurm.sh')
DECK = """RC
.param r=1k c=1n
V1 in 0 dc 1 PULSE(0 1 0 1n 1n 10u 20u)
R1 in out {r}
C1 out 0 {c}
.tran 10n 60u
.meas tran d trig v(in) val=0.5 rise=1 targ v(out) val=0.5 rise=1
.step param r 1k 5k 100
.mc 2
"""
CONF = """ClusterName=test
SlurmctldHost=%(host)s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%(dir)s/munge.socket
CredType=cred/munge
SlurmctldPort=%(port)d
SlurmdPort=%(port2)d
StateSaveLocation=%(dir)s/state
SlurmdSpoolDir=%(dir)s/spool
SlurmctldPidFile=%(dir)s/slurmctld.pid
SlurmdPidFile=%(dir)s/slurmd.pid
SlurmctldLogFile=%(dir)s/slurmctld.log
SlurmdLogFile=%(dir)s/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0
MpiDefault=none
ReturnToService=2
NodeName=%(host)s NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=%(host)s Default=YES State=UP
"""


class Skip(Exception):
    pass


def free_ports():
    found = []
    for _ in range(2):
        s = socket.socket()
        s.bind(('127.0.0.1', 0))
        found.append(s)
    ports = [s.getsockname()[1] for s in found]
    for s in found:
        s.close()
    return ports


def wait_until(what, ok, seconds=40):
    for _ in range(seconds * 10):
        if ok():
            return
        time.sleep(0.1)
    raise Skip(what)


def run(*args, **kw):
    return subprocess.run(args, capture_output=True, text=True, timeout=200, **kw)


class Cluster:
    def __init__(self, folder):
        self.dir, self.process = folder, []
        for name in 'state', 'spool':
            os.mkdir(os.path.join(folder, name))
        port, port2 = free_ports()
        self.env = dict(os.environ, SLURM_CONF=os.path.join(folder, 'slurm.conf'))
        self.host = socket.gethostname().split('.')[0]
        with open(self.env['SLURM_CONF'], 'w') as f:
            f.write(CONF % {'host': self.host, 'dir': folder, 'port': port, 'port2': port2})
        with open(os.path.join(folder, 'cgroup.conf'), 'w') as f:
            f.write('CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n')
        key = os.path.join(folder, 'key')
        with open(key, 'wb') as f:
            f.write(os.urandom(256))
        os.chmod(key, 0o400)

    def start(self):
        at = lambda name: os.path.join(self.dir, name)
        self.begin('munged', '-F', '--force', '--key-file', at('key'), '--socket', at('munge.socket'), '--pid-file', at('munge.pid'),
                   '--log-file', at('munge.log'), '--seed-file', at('munge.seed'))
        wait_until('munged does not start', lambda: os.path.exists(at('munge.socket')))
        self.begin('slurmctld', '-D', '-i')
        self.begin('slurmd', '-D', '-N', self.host)
        wait_until('the node does not come up', lambda: 'idle' in run('sinfo', '-h', '-o', '%T', env=self.env).stdout)

    def begin(self, *args):
        with open(os.path.join(self.dir, args[0] + '.out'), 'w') as f:
            self.process.append(subprocess.Popen(args, env=self.env, stdout=f, stderr=f))

    def stop(self):
        for p in reversed(self.process):
            p.terminate()
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()


def data(path):
    with open(path, 'rb') as f:
        return f.read()


def check(what, ok):
    if not ok:
        raise SystemExit('failed: ' + what)


def main():
    vsim = os.path.abspath(sys.argv[1])
    for tool in 'sbatch', 'slurmctld', 'slurmd', 'munged':
        if not shutil.which(tool, path=os.environ['PATH'] + ':/usr/sbin:/sbin'):
            raise Skip('there is no ' + tool)
    os.environ['PATH'] += ':/usr/sbin:/sbin'
    with tempfile.TemporaryDirectory() as folder:
        work = os.path.join(folder, 'work')
        os.mkdir(work)
        at = lambda name: os.path.join(work, name)
        with open(at('deck.sp'), 'w') as f:
            f.write(DECK)
        os.utime(at('deck.sp'), (10**9, 10**9))
        one = run(vsim, '-q', '-r', 'one.raw', '--measures', 'one.csv', 'deck.sp', cwd=work)
        check('a run alone: ' + one.stderr, one.returncode == 0)
        cluster = Cluster(folder)
        try:
            cluster.start()
            env, before = dict(cluster.env, VSIM=vsim), []
            for n in 4, 4, 3:  # the second time everything is there already
                if n == 3:
                    for i in range(4):
                        os.remove(at('part.%d.journal' % (i + 1)))
                job = run('sbatch', '--wait', '--array=1-%d' % n, SCRIPT, 'deck.sp', cwd=work, env=env)
                said = ''.join(data(at(f)).decode() for f in os.listdir(work) if f.startswith('slurm-'))
                check('sbatch: %s%s' % (job.stderr, said), job.returncode == 0)
                parts = [at('part.%d' % (i + 1)) for i in range(n)]
                merged = run(vsim, 'merge', at('all.raw'), '--measures', at('all.csv'), *parts)
                check('merge: ' + merged.stderr, merged.returncode == 0)
                check('the statistics', 'd: 2 samples, 0 failed' in merged.stdout)
                for name in 'raw', 'csv':
                    check('all.%s is that of one run' % name, data(at('all.' + name)) == data(at('one.' + name)))
                journals = [data(p + '.journal') for p in parts]
                check('nothing is computed twice', n != len(before) or journals == before)
                before = journals
        finally:
            cluster.stop()
    print('a job array of 4 tasks, again, and of 3')


if __name__ == '__main__':
    try:
        main()
    except Skip as why:
        print('skipped:', why)
        sys.exit(77)
