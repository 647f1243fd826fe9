#!/usr/bin/env python3
"""Runs scripts/build, scripts/install-dependencies, scripts/check-debian13 and scripts/peer-root as users would: scripts_test.py
SOURCES. Needs neither root nor a network: the tools that would are replaced."""

import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path()


def written(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class InTemporaryFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class InstallDependencies(InTemporaryFolder):
    """As a user who is not root, with no tools but these."""

    def setUp(self):
        super().setUp()
        for tool in ("bash", "env", "grep", "tr"):
            (self.folder / tool).symlink_to(shutil.which(tool))
        self.tool("id", "echo 1000")

    def tool(self, name, script):
        written(self.folder / name, f"#!/bin/bash\n{script}\n")

    def install(self):
        return subprocess.run([SOURCES / "scripts/install-dependencies", "lint"], env={"PATH": str(self.folder)},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def is_told_what_to_ask_for(self):
        done = self.install()
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"\A[^\n]*ask the administrator[^\n]* clang-tidy\n\Z")
        self.assertNotIn("clang-format", done.stderr)

    def only_clang_format_is_there(self):
        self.tool("dpkg-query", '[ "${!#}" = clang-format ] && echo "install ok installed"')

    def test_who_has_the_packages_needs_no_sudo(self):
        self.tool("dpkg-query", 'echo "install ok installed"')
        done = self.install()
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_who_has_no_sudo_is_told_what_to_ask_for(self):
        self.only_clang_format_is_there()
        self.is_told_what_to_ask_for()

    def test_who_may_not_use_sudo_is_told_what_to_ask_for(self):
        self.only_clang_format_is_there()
        self.tool("sudo", 'echo "sudo: a password is required" >&2; exit 1')
        self.is_told_what_to_ask_for()

    def test_who_may_use_sudo_gets_what_is_missing(self):
        self.only_clang_format_is_there()
        self.tool("sudo", f'echo "$*" >>{self.folder}/calls')
        self.assertEqual(self.install().returncode, 0)
        calls = (self.folder / "calls").read_text().splitlines()
        self.assertEqual(calls[-1].split()[-1], "clang-tidy")
        self.assertIn("apt-get install", calls[-1])


class Build(InTemporaryFolder):
    def setUp(self):
        super().setUp()
        shutil.copytree(SOURCES / "scripts", self.folder / "scripts")

    def rules(self, *commands):
        lines = [f"rule r{i}\n  command = {command}\nbuild t{i}: r{i}\n" for i, command in enumerate(commands)]
        written(self.folder / "build/release/build.ninja", "".join(lines))

    def build(self, stderr=subprocess.PIPE):
        return subprocess.run([self.folder / "scripts/build", "release"], stdout=subprocess.PIPE, stderr=stderr, text=True)

    def test_shows_on_a_terminal_how_far_it_is(self):
        self.rules("touch t0", "touch t1", "touch t2")
        terminal, stderr = pty.openpty()
        done = self.build(stderr)
        os.close(stderr)
        shown = os.read(terminal, 65536).decode()
        os.close(terminal)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("\r\033[Kbuilding: 2 of 3", shown)
        self.assertNotIn("\n", shown)
        self.assertTrue(shown.endswith("\r\033[K"), shown)

    def test_is_quiet_elsewhere(self):
        self.rules("touch t0")
        done = self.build()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_shows_what_failed(self):
        self.rules("echo no such thing; exit 3")
        done = self.build()
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such thing", done.stderr)
        self.assertNotIn("building:", done.stderr)


class CheckDebian13(InTemporaryFolder):
    """As a user who is not root, or as one who is where nothing can be mounted."""

    script = "check-debian13"

    def refused(self, *arguments, uid=1000):
        written(self.folder / "id", f"#!/bin/sh\necho {uid}\n")
        written(self.folder / "unshare", f"#!/bin/sh\ntouch {self.folder}/entered\n")
        done = subprocess.run([SOURCES / "scripts" / self.script, *arguments], capture_output=True, text=True,
                              env=os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, rf"\A{self.script}: [^\n]*\n\Z")
        self.assertFalse((self.folder / "entered").exists())
        return done.stderr

    def test_who_is_not_root_is_told_how_to_be(self):
        self.assertIn(f"sudo scripts/{self.script}", self.refused())

    def test_an_unknown_option_is_named(self):
        self.assertIn("'--fast'", self.refused("--fast", uid=0))

    def test_two_directories_are_refused(self):
        self.assertIn("one directory at most", self.refused("a", "b", uid=0))

    def test_a_folder_with_something_else_in_it_is_left_alone(self):
        written(self.folder / "home/letter.txt", "")
        self.assertIn("holds something else", self.refused(self.folder / "home", uid=0))

    def test_a_root_of_another_release_is_left_alone(self):
        written(self.folder / "root/etc/apt/sources.list", "deb http://mirror/debian bookworm main\n")
        self.assertIn("holds something else", self.refused(self.folder / "root", uid=0))


class PeerRoot(CheckDebian13):
    script = "peer-root"


if __name__ == "__main__":
    SOURCES = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
