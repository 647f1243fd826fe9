"""A Slurm of its own on the hosts of namespaces.py: a controller on the first, a node on each.

    with Slurm(hosts=2) as slurm:
        done = slurm.run(["srun", "-n", "2", "--mpi=pmix", "./program"])

Needs slurm-wlm, munge and what namespaces.py needs. All ends with the hosts, however the test ends.
"""

import shutil
import subprocess
import time

import namespaces
from namespaces import Unsupported

# PMIx makes a folder of the same name on every node: each has a place for temporary files of its own.
CONFIGURATION = """
ClusterName=tacho
SlurmctldHost=node0
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/spool.%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
TmpFS={folder}/%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0
SlurmdParameters=config_overrides
{nodes}
PartitionName=all Nodes=ALL Default=YES
"""


def why_unsupported():
    """Why this machine can have no Slurm; None if it can."""
    for tool in ("munged", "slurmctld", "slurmd", "srun"):
        if not shutil.which(tool):
            return f"{tool} is missing: scripts/install-dependencies cluster"
    return namespaces.why_unsupported()


class Slurm:
    """Each node has as many CPUs as its host in `cluster` has cores."""

    def __init__(self, hosts=1, rate_mbit=1000):
        self.cluster = namespaces.Cluster(hosts, rate_mbit)

    def __enter__(self):
        self.cluster.__enter__()
        try:
            self.start()
        except BaseException:
            self.cluster.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.cluster.__exit__()

    def command(self, command, host="node0"):
        """The call, for subprocess, that runs a command on a host."""
        return self.cluster.command(host, ["env", f"SLURM_CONF={self.cluster.folder}/slurm.conf", *command])

    def run(self, command, host="node0", timeout=300):
        return subprocess.run(self.command(command, host), capture_output=True, text=True, timeout=timeout)

    def start(self):
        folder, hosts = self.cluster.folder, self.cluster.hosts
        folder.chmod(0o755)  # munge wants its socket where everybody may go
        (folder / "state").mkdir()
        nodes = "\n".join(f"NodeName={host} CPUs={len(self.cluster.cores(host))}" for host in hosts)
        self.cluster.write("slurm.conf", CONFIGURATION.format(folder=folder, nodes=nodes))
        files = [f"--{name}={folder}/munge.{name}" for name in ("key-file", "socket", "pid-file", "seed-file", "log-file")]
        self.run_daemon(["mungekey", "--create", f"--keyfile={folder}/munge.key-file"])
        self.run_daemon(["munged", *files])
        self.run_daemon(["slurmctld"])
        for host in hosts:
            self.run_daemon(["slurmd", "-N", host], host)
        self.wait_for_nodes()

    def run_daemon(self, command, host="node0"):
        """Returns when it runs in the background."""
        done = self.run(command, host)
        if done.returncode != 0:
            raise Unsupported(f"{command[0]}: {done.stderr.strip()}")

    def wait_for_nodes(self):
        for _ in range(300):
            states = self.run(["sinfo", "--noheader", "--Node", "--format=%T"]).stdout.split()
            if states == ["idle"] * len(self.cluster.hosts):
                return
            time.sleep(0.1)
        raise Unsupported(f"Slurm's nodes are {', '.join(states)}")
