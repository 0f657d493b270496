"""The newcomer's first command: JupyterLab serves the start page and lesson 01, and a browser shows them."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
# No connection leaves this machine: Chromium looks for updates and its maker's hosts unless it is told not to.
CHROMIUM_OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
SECONDS_TO_START = 90
# For the picture alone: no folder of the machine on which it was taken.
WITHOUT_FOLDER = """folder => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(folder, '');
}"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module", params=["light", "dark"])
def lab(request, tmp_path_factory):
    """JupyterLab on 127.0.0.1, on a copy of the notebooks (it saves what it shows): its address, its theme, the copy's folder. It ends with the tests."""
    port, home = free_port(), tmp_path_factory.mktemp("home")
    for folder in ("notebooks", "exercises", "solutions"):
        shutil.copytree(ROOT / folder, home / "course" / folder, ignore=shutil.ignore_patterns("source"))
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={home / 'course'}", "--no-browser", f"--port={port}"]
    command += ["--ip=127.0.0.1", "--IdentityProvider.token=", "--ServerApp.password="]
    command += ["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": f"JupyterLab {request.param.title()}"}))
    (settings / "notification.jupyterlab-settings").write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}))
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
    }
    environment = {**os.environ, **{name: str(home / folder) for name, folder in folders.items()}}
    log = (home / "lab.log").open("w")
    server = subprocess.Popen(command, cwd=home / "course", env=environment, stdout=log, stderr=log, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + SECONDS_TO_START
    while True:
        assert server.poll() is None and time.monotonic() < deadline, (home / "lab.log").read_text()[-2000:]
        try:
            read_json(f"{address}/api/status")
            break
        except OSError:
            time.sleep(0.3)
    yield address, request.param, home / "course"
    os.killpg(server.pid, signal.SIGTERM)
    server.wait(20)


def read_json(address: str):
    with urllib.request.urlopen(address, timeout=10) as answer:
        return json.load(answer)


@pytest.mark.parametrize("name", ["notebooks/00_start_here", "notebooks/01_the_broken_script", "exercises/01_the_broken_script"])
def test_the_lab_serves_the_notebook(lab, name):
    served = read_json(f"{lab[0]}/api/contents/{name}.ipynb")
    assert served["type"] == "notebook" and served["content"]["cells"][0]["cell_type"] == "markdown"


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_shows_lesson_01_and_its_first_error(lab, tmp_path):
    from playwright.sync_api import expect, sync_playwright

    address, theme, _folder = lab
    pictures = Path(os.environ.get("COURSE_PICTURES", tmp_path))
    pictures.mkdir(parents=True, exist_ok=True)
    outside, ids = [], [cell["id"] for cell in json.loads((ROOT / "notebooks" / "01_the_broken_script.ipynb").read_text())["cells"]]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on(
            "request",
            lambda request: None if re.match(r"(https?|wss?)://127\.0\.0\.1|data:|blob:", request.url) else outside.append(request.url),
        )
        page.goto(f"{address}/lab/tree/notebooks/01_the_broken_script.ipynb?reset", wait_until="domcontentloaded")
        heading = page.get_by_role("heading", name="01 · The broken script").first
        expect(heading).to_be_visible(timeout=60_000)
        page.get_by_text("Python 3 (ipykernel) | Idle").first.wait_for(timeout=60_000)
        page.screenshot(path=pictures / f"lesson_01_top_{theme}.png")
        heading.click()
        for _cell in range(ids.index("run-1") + 1):
            page.keyboard.press("Shift+Enter")
        # The stored error goes when the cell is queued ([*]); what stands there when it has a number again is a fresh one.
        cell = page.locator(".jp-NotebookPanel:visible .jp-CodeCell").filter(has_text="raw = load()").first
        prompt = cell.locator(".jp-InputPrompt").first
        expect(prompt).to_have_text(re.compile(r"\[\*\]"), timeout=30_000)
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=120_000)
        error = cell.locator(".jp-OutputArea").get_by_text("ValueError: Column labels not found in dataset!").first
        expect(error).to_be_visible(timeout=30_000)
        error.scroll_into_view_if_needed()
        page.evaluate(WITHOUT_FOLDER, f"{ROOT}{os.sep}")
        page.screenshot(path=pictures / f"lesson_01_error_{theme}.png")
        browser.close()
    assert outside == []


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("lab", ["light"], indirect=True)
def test_run_all_cells_goes_past_the_cells_that_raise(lab, tmp_path):
    from playwright.sync_api import expect, sync_playwright

    address, _theme, folder = lab
    name = "notebooks/01_the_broken_script.ipynb"
    notebook = json.loads((ROOT / name).read_text())
    for cell in notebook["cells"]:  # nothing that is stored can be taken for a run
        cell.update({"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {})
    (folder / name).write_text(json.dumps(notebook))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{address}/lab/tree/{name}?reset", wait_until="domcontentloaded")
        page.get_by_text("Python 3 (ipykernel) | Idle").first.wait_for(timeout=60_000)
        page.get_by_role("menuitem", name="Kernel", exact=True).click()
        page.locator("#jp-mainmenu-kernel").get_by_text("Restart Kernel and Run All Cells…").click()  # the palette has the same words
        page.get_by_role("button", name="Confirm Kernel Restart").click()
        deadline, cells = time.monotonic() + 240, [{"execution_count": None}]
        while not all(cell["execution_count"] for cell in cells) and time.monotonic() < deadline:
            page.keyboard.press("Control+s")
            time.sleep(3)
            with contextlib.suppress(OSError, ValueError):  # read while it was being written
                cells = [cell for cell in json.loads((folder / name).read_text())["cells"] if cell["cell_type"] == "code"]
        page.screenshot(path=tmp_path / "run_all.png")
        expect(page.get_by_text("Python 3 (ipykernel) | Idle").first).to_be_visible(timeout=30_000)
        browser.close()
    raised = [cell["id"] for cell in cells if any(output["output_type"] == "error" for output in cell["outputs"])]
    assert [cell["id"] for cell in cells if not cell["execution_count"]] == []
    assert raised == [cell["id"] for cell in cells if "raises-exception" in cell["metadata"].get("tags", [])]
