"""A real browser, without a way to any network, and what it is asked about a page."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.wait import WebDriverWait

CHROMIUM = next(filter(shutil.which, ("chromium", "google-chrome")), "chromium")
DRIVER = "chromedriver"
_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_ASKING = (Path(__file__).parent / "asking.js").read_text()
_LOAD_ENDED = "return performance.getEntriesByType('navigation')[0].loadEventEnd"
WIDE, PHONE = 1280, 390


def missing() -> Sequence[str]:
    """Programs that a browser test needs and that are not here."""
    return [name for name in (CHROMIUM, DRIVER, "unshare") if shutil.which(name) is None]


@dataclass(frozen=True)
class Browser:
    """A browser with one page open."""

    driver: Chrome

    def show(
        self, page: Path, place: str = "", width: int = WIDE, scheme: str = "light", **media: str
    ) -> None:
        """Open a page anew at a width, in a colour scheme."""
        self.ask("about:blank")
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._tell(
            "Emulation.setEmulatedMedia",
            media=media.pop("media", ""),
            features=features
            + [{"name": k.replace("_", "-"), "value": v} for k, v in media.items()],
        )
        self._tell(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=844,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        self.ask(page.as_uri() + (f"#{place}" if place else ""))
        WebDriverWait(self.driver, 20).until(
            lambda _: self.run("return document.readyState") == "complete"
        )
        self._settle()

    def ask(self, address: str) -> None:
        self.driver.get(address)

    def run(self, script: str, *args: object) -> Any:
        """Evaluate JavaScript that knows the functions of ``asking.js``."""
        return self.driver.execute_script(f"{_ASKING}\n{script}", *args)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        for key in keys:
            ActionChains(self.driver, duration=0).send_keys(key).perform()
            self._settle()

    @property
    def focus(self) -> Mapping[str, Any]:
        """The element that has the focus."""
        found: Mapping[str, Any] = self.run(
            "const e = document.activeElement;"
            "return {tag: e.tagName, id: e.id, href: e.getAttribute('href'),"
            " text: e.textContent.trim(), in: e.closest('article') ? e.closest('article').id : ''}"
        )
        return found

    def requested(self) -> Sequence[str]:
        """Addresses that were asked for since this was last called."""
        messages = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> Sequence[str]:
        """What the browser wrote on its console since this was last called."""
        return [str(entry["message"]) for entry in self.driver.get_log("browser")]

    def opened_in(self) -> float:
        """Seconds that opening the page took; of its own processor, where others had that too."""
        ended = WebDriverWait(self.driver, 20).until(lambda _: self.run(_LOAD_ENDED))
        self._tell("Performance.enable")
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        worked = next(m["value"] for m in metrics if m["name"] == "ProcessTime")
        return min(float(ended) / 1000, float(worked))

    def _settle(self) -> None:
        """Let the page do what it has put off until its next turn."""
        self.driver.execute_async_script("setTimeout(arguments[0])")

    def _tell(self, command: str, **params: object) -> None:
        self.driver.execute_cdp_cmd(command, params)


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start one in a network of its own that leads nowhere; its profile lies in ``folder``."""
    options = Options()
    options.binary_location = str(_alone(folder))
    for flag in (*_FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = Chrome(options=options, service=Service(shutil.which(DRIVER)))
    try:
        driver.set_page_load_timeout(60)
        driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        yield Browser(driver)
    finally:
        driver.quit()


def _alone(folder: Path) -> Path:
    """A program that is the browser inside a network namespace of its own, with a home of its own."""
    kind = "-n" if os.geteuid() == 0 else "-rn"
    script = folder / "alone"
    home = f"HOME={folder} XDG_CONFIG_HOME={folder}/config XDG_CACHE_HOME={folder}/cache"
    start = f'exec env {home} unshare {kind} -- {shutil.which(CHROMIUM)} "$@"'
    script.write_text(f"#!/bin/sh\n{start}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script
