#!/usr/bin/env python3
"""What `cmake --install` puts in place works: install_test.py BUILD_DIRECTORY. Needs only the standard library."""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = ""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def commands_of(tacho, *under):
    """Every command with its options, as the help lists them: {("data", "make"): ["--help", ...]}."""
    text = run(tacho, *under, "--help").stdout
    found = {under: re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.MULTILINE)}
    for name in re.findall(r"^  (\w+) ", text.partition("Subcommands:")[2], re.MULTILINE):
        found.update(commands_of(tacho, *under, name))
    return found


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = tempfile.mkdtemp()
        installed = run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        assert installed.returncode == 0, installed.stderr
        cls.tacho = os.path.join(cls.prefix, "bin/tacho")
        cls.commands = commands_of(cls.tacho)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.prefix)

    def complete(self, *words):
        """What bash offers for the last word."""
        script = os.path.join(self.prefix, "share/bash-completion/completions/tacho")
        code = 'source "$0" || exit; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _tacho; echo "${COMPREPLY[*]}"'
        result = run("bash", "-c", code, script, *words)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.split()

    def test_the_installed_program_runs(self):
        self.assertRegex(run(self.tacho, "--version").stdout, r"^tacho \d+\.\d+\.\d+\n$")
        self.assertIn("resnet18", run(self.tacho, "models").stdout)

    def test_nothing_but_the_program_and_its_files_is_installed(self):
        files = [os.path.relpath(os.path.join(folder, name), self.prefix)
                 for folder, _, names in os.walk(self.prefix) for name in names]
        published = "share/tacho/references/"
        torch = ["lib/tacho/libtacho_torch.so"] if self.has_torch() else []
        self.assertCountEqual([name for name in files if not name.startswith(published)],
                              ["bin/tacho", "share/man/man1/tacho.1.gz", "share/doc/tacho/copyright",
                               "share/bash-completion/completions/tacho", *torch])
        self.assertIn(published + "dgx1-v100.json", files)

    def has_torch(self):
        return "engine torch" in run(self.tacho, "system").stdout

    def test_the_installed_program_finds_its_torch_engine(self):
        if not self.has_torch():
            self.skipTest("this build has no libtorch")
        done = run(self.tacho, "bench", "squeezenet1_1", "--engine", "torch", "--batch", "1", "--image", "64x64", "--warmup", "0", "--repeat", "1", "--no-db")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_manual_page_names_every_command_and_option(self):
        with gzip.open(os.path.join(self.prefix, "share/man/man1/tacho.1.gz"), "rt") as file:
            page = file.read()
        self.assertTrue(page.startswith(".TH TACHO 1 "))
        sections = dict(re.findall(r"^\.SS tacho (.*)\n((?:(?!\.S[SH] ).*\n)*)", page, re.MULTILINE))
        self.assertGreater(len(self.commands), 14)
        for command, options in self.commands.items():
            if not command:
                continue
            self.assertIn(" ".join(command), sections)
            if any(other[:-1] == command for other in self.commands):
                continue
            for option in options:
                self.assertIn("\\fB" + option.replace("-", "\\-") + "\\fR", sections[" ".join(command)])

    def test_the_manual_page_is_shown_without_a_warning(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        page = run(self.tacho, "manual").stdout
        shown = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))

    def test_the_completion_offers_every_command_and_option(self):
        for command, options in self.commands.items():
            under = [other[-1] for other in self.commands if other and other[:-1] == command]
            if under:
                self.assertEqual(self.complete("tacho", *command, ""), under)
            self.assertLessEqual(set(options), set(self.complete("tacho", *command, "--")))

    def test_the_completion_knows_commands_by_how_they_begin(self):
        self.assertEqual(self.complete("tacho", "be"), ["bench"])
        self.assertEqual(self.complete("tacho", "data", "m"), ["make"])

    def test_the_completion_offers_the_networks_where_one_is_named(self):
        self.assertEqual(self.complete("tacho", "bench", "resn"),
                         ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152"])
        self.assertEqual(self.complete("tacho", "bench", "vgg16", "--mode", "train", "unet3d_"), ["unet3d_lite"])
        self.assertEqual(self.complete("tacho", "export", "inc"), ["inception_v3"])

    def test_the_completion_leaves_the_value_of_an_option_to_the_shell(self):
        self.assertEqual(self.complete("tacho", "bench", "vgg16", "--weights", "resn"), [])


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
