# SPDX-License-Identifier: MIT
"""mkdocs: adds pages outside docs/ to the site, and adapts links. In the sources a link is a path of the repository, so it
also works on GitHub. On the site it becomes a path of the site. A link to a source file becomes plain text."""
import os
import pathlib
import posixpath
import re
import shutil
import subprocess

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "bench/README.md": "benchmarks/running.md",
           "wasm/README.md": "npm-package.md"}
TOOLS = {"Doxyfile", "site/reference"}
SOURCES = {page: source for source, page in OUTSIDE.items()}
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")


def slug(text, separator):
    """Returns the anchor of a heading, in GitHub's form. The same link then works on GitHub and on the site."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def on_config(config):
    config["mdx_configs"]["toc"]["slugify"] = slug
    return config


def on_files(files, config):
    for file in [one for one in files if one.src_uri in TOOLS or one.src_uri.endswith(".py")]:
        files.remove(file)
    for source, page in OUTSIDE.items():
        file = File(page, config["docs_dir"], config["site_dir"], config["use_directory_urls"])
        file.abs_src_path = os.fspath(ROOT / source)
        files.append(file)
    return files


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri
    folder = posixpath.dirname(SOURCES.get(uri, f"docs/{uri}"))

    def adapted(link):
        target = posixpath.normpath(posixpath.join(folder, link[3]))
        in_site = OUTSIDE.get(target, target.removeprefix("docs/") if target.startswith("docs/") else None)
        if in_site is None or files.get_file_from_path(in_site) is None:
            return link[2]
        return f"{link[1]}[{link[2]}]({posixpath.relpath(in_site, posixpath.dirname(uri) or '.')}{link[4] or ''})"

    if uri == "cpp.md":  # built after the pages, so that it is no page for mkdocs
        assert "reference of all classes" in markdown, "docs/cpp.md: expected the words that become a link"
        markdown = markdown.replace("reference of all classes", '<a href="../cpp-reference/annotated.html">reference of all classes</a>')
    parts = FENCE.split(markdown)
    return "".join(part if i % 2 else LINK.sub(adapted, part) for i, part in enumerate(parts))


def on_post_build(config):
    """Adds Doxygen's reference of the public headers, to which docs/cpp.md links."""
    headers = ROOT / "build/public_headers"
    for program in ("cmake", "doxygen"):
        if not shutil.which(program):
            raise SystemExit(f"the reference of the C++ classes needs {program}: apt-get install {program}")
    shutil.rmtree(headers, ignore_errors=True)
    for command in (["cmake", f"-DSOURCE={ROOT}", f"-DDESTINATION={headers}", "-P", "cmake/public_headers.cmake"],
                    ["doxygen", "-"]):
        settings = (ROOT / "docs/Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {config['site_dir']}\n"
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, input=settings, text=True)
