#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the links of the documentation: links.py [SITE]. In the sources, each relative link must name a file, and its anchor a
heading of that file. SITE is the folder that mkdocs built. There, each link must lead to a file and an anchor, and no page may load
anything from another host."""
import html.parser
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ +(.*?) *#*$", re.MULTILINE)
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
passed, problems = 0, []


def check(right, problem):
    global passed
    if right:
        passed += 1
    else:
        problems.append(problem)


def anchors(text):
    """Returns the anchors of a page, in GitHub's form. A repeated heading gets a number."""
    seen, found = {}, set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def sources():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout.split()
    texts = {ROOT / name: (ROOT / name).read_text() for name in listed if (ROOT / name).exists()}
    for page, text in texts.items():
        for target, anchor in LINK.findall(FENCE.sub("", text)):
            file = (page.parent / urllib.parse.unquote(target)).resolve() if target else page
            place = f"{page.relative_to(ROOT)}: the link to {target}{'#' + anchor if anchor else ''}"
            check(file.exists(), f"{place}: expected a file, got none")
            if anchor and file in texts:
                check(anchor in anchors(texts[file]), f"{place}: expected a heading with this anchor, got none")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.add(given.get("id") or given.get("name"))
        if tag == "a" and given.get("href"):
            self.links.add(given["href"])
        if given.get(LOADED.get(tag)) and given.get("rel") != "canonical":
            self.loaded.add(given[LOADED[tag]])


def site(folder):
    folder = folder.resolve()
    pages = {file: Page(file.read_text()) for file in folder.rglob("*.html") if file.name != "404.html"}
    check(len(pages) > 10, f"{folder}: expected the pages of the site, got {len(pages)}")
    for file, page in pages.items():
        where = file.relative_to(folder)
        for url in page.loaded:
            check(not urllib.parse.urlsplit(url).netloc, f"{where}: expected to load nothing from elsewhere, got {url}")
        for url in page.links | page.loaded:
            parts = urllib.parse.urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            check(target.exists(), f"{where}: the link to {url}: expected a file, got none")
            # Doxygen links to a section that it leaves out if the section's types are private.
            if parts.fragment and target in pages and not (parts.fragment == "nested-classes" and "cpp-reference" in where.parts):
                check(urllib.parse.unquote(parts.fragment) in pages[target].ids, f"{where}: the link to {url}: expected this anchor, got none")
    for file in [*folder.rglob("*.css"), *pages]:
        foreign = re.findall(r"url\(['\"]?(?:https?:)?//[^)]*\)", file.read_text())
        check(not foreign, f"{file.relative_to(folder)}: expected to load nothing from elsewhere, got {foreign}")


sources()
if len(sys.argv) > 1:
    site(pathlib.Path(sys.argv[1]))
print("\n".join(problems) if problems else f"links: {passed} checked, all lead somewhere")
print(f"checks: {passed} passed, {len(problems)} failed")
sys.exit(bool(problems))
