"""Several hosts on one machine: namespaces with names, cores and links of their own, and a remote shell for mpirun.

    with Cluster(hosts=4, rate_mbit=200) as cluster:
        done = cluster.mpirun(["./program"])

Needs root, iproute2 and Open MPI. The links have a rate, but no latency of their own.
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile

# Process 1 of the cluster. It ends when its standard input is closed, which happens also when the test is killed; all other
# processes end with it, and namespaces and links with their processes. Until then it waits, and so takes in those whose
# parent ended: Slurm counts the others as running.
SWITCH = """
sh -c 'echo $$; exec unshare --net --mount --pid --fork --mount-proc sh -c "
  ip link add switch type bridge && ip link set switch up && echo up && exec 3<&0 && (read _ <&3 & wait)"'
rmdir {groups}/node* {groups} 2>/dev/null
rm -r {folder}
"""

# reno is the one congestion control that every kernel allows here.
HOST = """
hostname {host} && mount --bind {folder}/hosts /etc/hosts && mount -t tmpfs tmpfs /dev/shm &&
  ip link add eth0 type veth peer name {host} netns 1 && ip address add {address}/24 dev eth0 && ip link set eth0 up &&
  ip link set lo up && nsenter --target 1 --net ip link set {host} master switch up &&
  echo reno >/proc/sys/net/ipv4/tcp_congestion_control && echo $$ && exec sleep infinity
"""

# Called like ssh: a host and a command.
REMOTE_SHELL = """#!/bin/sh
host=$1
shift
. {folder}/$host.conf
if [ -d {groups}/$host ]; then echo 0 >{groups}/$host/cgroup.procs; fi
export TMPDIR={folder}/$host OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl=tcp,vader,self OMPI_MCA_btl_tcp_if_include=eth0
# Open MPI 4, then 5.
export OMPI_MCA_plm_rsh_agent={folder}/remote-shell OMPI_MCA_oob_tcp_if_include=eth0
export PRTE_MCA_plm_ssh_agent={folder}/remote-shell PRTE_MCA_prte_if_include=eth0
exec nsenter --target $pid --net --uts --mount --wdns="$PWD" taskset --cpu-list $cores sh -c "$*"
"""


class Unsupported(Exception):
    """What this machine does not allow."""


def why_unsupported():
    """Why this machine can have no cluster; None if it can."""
    if os.geteuid() != 0:
        return "only root can make hosts of namespaces"
    for tool in ("mpirun", "ip", "tc", "nsenter", "taskset"):
        if not shutil.which(tool):
            return f"{tool} is missing: scripts/install-dependencies cluster"
    try:
        with Cluster(hosts=1):
            return None
    except Unsupported as problem:
        return str(problem)


class CpuGroups:
    """Control groups of CPU time, of version 1 or 2, one a host."""

    def __init__(self, name):
        self.version, self.folder = 0, pathlib.Path("/sys/fs/cgroup", name)
        for line in pathlib.Path("/proc/mounts").read_text().splitlines():
            place, kind, options = line.split()[1:4]
            if kind == "cgroup" and "cpu" in options.split(","):
                self.version, self.folder = 1, pathlib.Path(place, name)
            elif kind == "cgroup2" and "cpu" in pathlib.Path(place, "cgroup.subtree_control").read_text().split():
                self.version, self.folder = 2, pathlib.Path(place, name)

    def add(self, host):
        if self.version == 0:
            return
        try:
            (self.folder / host).mkdir(parents=True)
            if self.version == 2:
                (self.folder / "cgroup.subtree_control").write_text("+cpu")
        except OSError:
            self.version = 0

    def limit(self, host, cores):
        """To the time of this many cores, which need not be whole."""
        if self.version == 0:
            raise Unsupported("no control group of this machine limits CPU time")
        period_us = 10000
        quota_us = round(cores * period_us)
        if self.version == 1:
            (self.folder / host / "cpu.cfs_period_us").write_text(str(period_us))
            (self.folder / host / "cpu.cfs_quota_us").write_text(str(quota_us))
        else:
            (self.folder / host / "cpu.max").write_text(f"{quota_us} {period_us}")


class Cluster:
    """Hosts node0, node1, ... on one switch. Each has cores of its own, as long as there are enough."""

    def __init__(self, hosts=2, rate_mbit=1000):
        self.hosts = [f"node{i}" for i in range(hosts)]
        self.rate_mbit = rate_mbit

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tacho-cluster-"))
        self.groups = CpuGroups(self.folder.name)
        self.kept = []
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.kept:  # the switch first
            process.stdin.close()
            process.wait()
            process.stdout.close()
            process.stderr.close()

    def start(self):
        places = {"folder": self.folder, "groups": self.groups.folder}
        addresses = {host: f"10.0.0.{i + 1}" for i, host in enumerate(self.hosts)}
        switch, _ = self.keep(["sh", "-c", SWITCH.format(**places)], lines=2)
        self.enter = ["nsenter", f"--target={switch}", f"--pid=/proc/{switch}/ns/pid_for_children", "--mount", "--net"]
        self.write("hosts", "127.0.0.1 localhost\n" + "".join(f"{a} {host}\n" for host, a in addresses.items()))
        self.write("remote-shell", REMOTE_SHELL.format(**places)).chmod(0o755)
        for host, address in addresses.items():
            (self.folder / host).mkdir()
            self.groups.add(host)
            script = HOST.format(host=host, address=address, **places)
            pid, = self.keep([*self.enter, "unshare", "--net", "--uts", "--mount", "sh", "-c", script], lines=1)
            self.write(f"{host}.conf", f"pid={pid} cores={','.join(map(str, self.cores(host)))}\n")
            self.limit_link(host, self.rate_mbit)

    def keep(self, command, lines):
        """Starts what lives as long as the cluster; the first lines it prints."""
        # In a session of its own: Ctrl-C is for the test, which then ends it.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, start_new_session=True)
        self.kept.append(process)
        printed = [process.stdout.readline().strip() for _ in range(lines)]
        if not all(printed):
            raise Unsupported(process.stderr.read().strip())
        return printed

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def cores(self, host):
        usable, number = sorted(os.sched_getaffinity(0)), self.hosts.index(host)
        return usable[number::len(self.hosts)] or [usable[number % len(usable)]]

    def command(self, host, command):
        """The call, for subprocess, that runs a command on a host."""
        return [*self.enter, f"--wdns={os.getcwd()}", self.folder / "remote-shell", host, shlex.join(map(str, command))]

    def mpirun_command(self, command, ranks_per_host=1, env={}):
        """The call that runs a command on all hosts by mpirun on the first."""
        hostfile = self.write("hostfile", "".join(f"{host} slots={ranks_per_host}\n" for host in self.hosts))
        variables = [word for name, value in env.items() for word in ("-x", f"{name}={value}")]
        return self.command(self.hosts[0], ["mpirun", "--hostfile", hostfile, "--bind-to", "none", *variables, *command])

    def run(self, host, command, timeout=60):
        return subprocess.run(self.command(host, command), capture_output=True, text=True, timeout=timeout)

    def mpirun(self, command, ranks_per_host=1, env={}, timeout=300):
        return subprocess.run(self.mpirun_command(command, ranks_per_host, env), capture_output=True, text=True,
                              timeout=timeout)

    def limit_link(self, host, mbit):
        """What a host can send and, at the same time, receive."""
        # A bucket of 1 ms: an idle link lends no more, and a timer that is late by less loses nothing. A queue of 50 ms:
        # streams that meet wait there, as a packet lost costs 200 ms.
        limit = ["root", "tbf", "rate", f"{mbit}mbit", "burst", str(max(16000, mbit * 125)), "latency", "50ms"]
        ends = [self.command(host, ["tc", "qdisc", "replace", "dev", "eth0", *limit]),
                [*self.enter, "tc", "qdisc", "replace", "dev", host, *limit]]
        for end in ends:
            done = subprocess.run(end, capture_output=True, text=True)
            if done.returncode != 0:
                raise Unsupported(done.stderr.strip())

    def unplug(self, host):
        """Packets to and from it are lost from now on; nobody is told."""
        subprocess.run([*self.enter, "ip", "link", "set", host, "nomaster"], check=True)

    def limit_cpu(self, host, share):
        """What part of its cores' time a host may take."""
        self.groups.limit(host, share * len(self.cores(host)))

    def bytes_sent(self, host):
        """Over its link, as the kernel counts."""
        shown = self.run(host, ["ip", "-json", "-statistics", "link", "show", "eth0"]).stdout
        return json.loads(shown)[0]["stats64"]["tx"]["bytes"]
