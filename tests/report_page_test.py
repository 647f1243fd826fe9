#!/usr/bin/env python3
"""Opens the report page in a browser: report_page_test.py TACHO [--screenshots DIR]

Needs only the standard library and Chromium; without that it is skipped (status 77).
"""

import argparse
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from devtools import Browser, find_chromium
from page_records import HOSTILE, HOSTILE_IMAGE, page_records

SECTIONS = ["zoo", "batch", "scaling", "grid", "roofline", "training", "compare", "all"]
WIDE, NARROW = (1400, 900), (390, 844)

# For each canvas its label, if all its pixels are the same.
EMPTY_CANVASES = """[...document.querySelectorAll('canvas')].filter(canvas => {
  const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return pixels.every(pixel => pixel === pixels[0]);
}).map(canvas => canvas.getAttribute('aria-label'))"""
PIXELS = "document.querySelector('#{} canvas').toDataURL()"
TICK = """[...document.querySelectorAll('#picker-list label[data-text]')].find(label => label.textContent === {}).querySelector('input').click()"""
COLUMN = """(() => {{
  const at = [...document.querySelectorAll('.results thead th')].findIndex(th => th.textContent.startsWith('{}'));
  return [...document.querySelectorAll('.results tbody tr')].map(row => row.children[at + 1].textContent);
}})()"""


def make_page(tacho, folder, records=None):
    """The page of a store into which the records were imported."""
    records = page_records() if records is None else records
    source, page = os.path.join(folder, "records.json"), os.path.join(folder, "report.html")
    with open(source, "w") as file:
        json.dump([record for record in records if "reference" not in record], file)
    path = os.path.join(folder, "results.db")
    store = ["--db", path]
    subprocess.run([tacho, "results", "import", source, *store], check=True, timeout=60)
    add_published(path, [record for record in records if "reference" in record])
    subprocess.run([tacho, "report", "-o", page, "--no-references", *store], check=True, timeout=60)
    return page


def add_published(path, records):
    """Straight into the store: the program itself takes published results only as part of it."""
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        for record in records:
            store.execute("INSERT OR IGNORE INTO records (id, record) VALUES (?, ?)", (record["id"], json.dumps(record)))


class PageTest(unittest.TestCase):
    tacho = ""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.address = pathlib.Path(make_page(cls.tacho, cls.folder.name)).as_uri()
        cls.browser = Browser(find_chromium(), os.path.join(cls.folder.name, "profile"))

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.problems.clear()
        self.browser.requests.clear()
        self.browser.prefer("light")
        self.browser.resize(*WIDE)
        self.browser.open(self.address)
        self.browser.settle()

    def tearDown(self):
        self.assertEqual(self.browser.problems, [])
        fetched = {request for request in self.browser.requests if not request.startswith("data:")}
        self.assertEqual(fetched, {self.address})

    def run_script(self, script):
        value = self.browser.run(script)
        self.browser.settle()
        return value

    def tick(self, name):
        self.run_script(TICK.format(json.dumps(name)))

    def test_every_section_is_there_in_order(self):
        self.assertEqual(self.run_script("[...document.querySelectorAll('#sections > section')].map(s => s.id)"), SECTIONS)

    def test_every_canvas_is_drawn_in_both_colour_schemes(self):
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            self.assertGreater(self.run_script("document.querySelectorAll('canvas').length"), 10)
            self.assertEqual(self.run_script(EMPTY_CANVASES), [])

    def test_canvases_and_tables_have_names(self):
        self.assertEqual(self.run_script("document.querySelectorAll('canvas:not([aria-label]), table:not(:has(caption))').length"), 0)

    def test_headings_never_skip_a_level(self):
        levels = self.run_script("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))")
        self.assertEqual(levels[0], 1)
        self.assertTrue(all(b <= a + 1 for a, b in zip(levels, levels[1:])), levels)

    def test_references_are_drawn_only_once_ticked(self):
        self.assertNotIn("GPU model A", self.run_script("document.querySelector('#compare').innerText"))
        before = self.run_script(PIXELS.format("compare"))
        self.tick("GPU model A")
        self.assertNotEqual(self.run_script(PIXELS.format("compare")), before)
        self.tick("GPU model B")
        text = self.run_script("document.querySelector('#compare').innerText")
        self.assertIn("GPU model B", text)
        self.assertIn("batch 12 against 16", text)
        self.assertIn("not compared", text)
        self.assertIn("a median against a mean", text)
        self.assertIn("transfer counted in the first only", text)
        self.assertIn("Mean of 20 passes after 5, without an update.", text)

    def test_known_errors_are_shown_with_their_correction(self):
        self.tick("K80 nodes")
        text = self.run_script("document.querySelector('.sources').innerText")
        self.assertIn("The halo was counted as output.", text)
        self.assertIn("Use the overall rate alone.", text)

    def test_a_header_sorts_the_table_both_ways(self):
        rates = []
        for _ in range(2):
            self.run_script("document.querySelector('[data-sort=images_per_s]').click()")
            rates.append([float(text.replace("\u202f", "")) for text in self.run_script(COLUMN.format("images/s"))])
        self.assertGreater(len(rates[0]), 20)
        self.assertEqual(rates[0], sorted(rates[0], reverse=True))
        self.assertEqual(rates[1], sorted(rates[1]))
        self.assertNotEqual(rates[0], rates[1])

    def test_the_filter_keeps_the_rows_with_its_words(self):
        self.run_script("""(() => { const filter = document.querySelector('#results-filter');
            filter.value = 'vgg19 noisy'; filter.dispatchEvent(new Event('input')); })()""")
        self.assertEqual(self.run_script(COLUMN.format("model")), ["vgg19"])
        self.assertIn("MAD is 6.1 % of the median", self.run_script("document.querySelector('.results tbody').innerText"))

    def test_a_row_shows_its_samples(self):
        box = self.run_script("""(() => { const row = document.querySelector('.results tbody tr:nth-child(5)');
            row.scrollIntoView({ block: 'center', behavior: 'instant' }); const { left, top } = row.getBoundingClientRect(); return [left, top]; })()""")
        self.browser.move_to(box[0] + 60, box[1] + 8)
        self.assertFalse(self.run_script("document.querySelector('#tip').hidden"))
        self.assertEqual(self.run_script("document.querySelectorAll('#tip .strip circle').length"), 20)
        text = self.run_script("document.querySelector('#tip').innerText")
        self.assertIn("95 % interval", text)
        self.assertNotIn("null", text)

    def test_a_bar_shows_its_samples(self):
        self.run_script("document.querySelector('#zoo canvas').scrollIntoView({ block: 'start', behavior: 'instant' })")
        x, y = self.run_script("""(() => { const bar = charts[0].getDatasetMeta(0).data[3], box = charts[0].canvas.getBoundingClientRect();
            return [box.left + (bar.base + bar.x) / 2, box.top + bar.y]; })()""")
        self.browser.move_to(x, y)
        self.assertEqual(self.run_script("document.querySelectorAll('#tip .strip circle').length"), 20)

    def test_figures_show_the_command_that_makes_them(self):
        self.assertIn("tacho suite grid", self.run_script("document.querySelector('#grid').innerText"))
        self.assertIn("tacho report -o", self.run_script("document.querySelector('#colophon').innerText"))

    def test_nothing_is_wider_than_a_phone(self):
        self.tick("GPU model B")
        self.browser.resize(*NARROW)
        self.assertLessEqual(self.run_script("document.documentElement.scrollWidth"), NARROW[0])
        self.assertEqual(self.run_script(EMPTY_CANVASES), [])

    def test_hostile_texts_are_texts(self):
        self.tick("K80 nodes")
        self.run_script("[...document.querySelectorAll('.segmented button')].find(b => b.textContent.startsWith('Everything')).click()")
        self.assertEqual(self.run_script("document.querySelectorAll('main img, main script').length"), 0)
        text = self.run_script("document.body.textContent")
        self.assertIn(HOSTILE, text)
        self.assertIn(HOSTILE_IMAGE, text)

    def test_paper_has_light_colours_and_no_controls(self):
        self.browser.prefer("dark")
        self.run_script("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.run_script("document.documentElement.dataset.theme"), "light")
        self.assertEqual(self.run_script(EMPTY_CANVASES), [])
        self.run_script("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(self.run_script("document.documentElement.dataset.theme"), "dark")


class SmallPageTest(PageTest):
    """One result alone: what it cannot fill is left out."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.address = pathlib.Path(make_page(cls.tacho, cls.folder.name, page_records()[:1])).as_uri()
        cls.browser = Browser(find_chromium(), os.path.join(cls.folder.name, "profile"))

    def test_sections_without_data_are_left_out(self):
        self.assertEqual(self.run_script("[...document.querySelectorAll('#sections > section')].map(s => s.id)"), ["zoo", "roofline", "all"])
        self.assertEqual(self.run_script(EMPTY_CANVASES), [])


def take_screenshots(tacho, folder):
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        browser = Browser(find_chromium(), os.path.join(scratch, "profile"))
        try:
            for name, size, scheme in (("wide", WIDE, "light"), ("dark", WIDE, "dark"), ("narrow", NARROW, "light")):
                browser.prefer(scheme)
                browser.resize(*size)
                browser.open(pathlib.Path(make_page(tacho, scratch)).as_uri())
                browser.run(TICK.format('"GPU model A"') + "; scrollTo(0, 0)")
                browser.settle()
                browser.screenshot(os.path.join(folder, f"{name}.png"))
            browser.resize(*WIDE)
            browser.print_pdf(os.path.join(folder, "print.pdf"))
        finally:
            browser.close()


def load_tests(loader, _tests, _pattern):
    suite = loader.loadTestsFromTestCase(PageTest)
    suite.addTest(SmallPageTest("test_sections_without_data_are_left_out"))
    return suite


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tacho", type=os.path.abspath)
    parser.add_argument("--screenshots", metavar="DIR", help="also write PNG files of the page into this folder")
    arguments, rest = parser.parse_known_args()
    if not find_chromium():
        print("skipped: chromium is not installed")
        return 77
    PageTest.tacho = arguments.tacho
    if arguments.screenshots:
        take_screenshots(arguments.tacho, arguments.screenshots)
    program = unittest.main(argv=[sys.argv[0], *rest], exit=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
