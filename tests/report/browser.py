# SPDX-License-Identifier: MIT
"""Drives a headless Chromium through its debugging pipe (Chrome DevTools Protocol): no network, no
package beyond Python. Used by check_page.py, and by hand for pictures of a report:

    python3 tests/report/browser.py REPORT.html OUT.png [--width 1200] [--height 900] [--dark] [--full] [--pdf]
"""
import argparse
import base64
import json
import os
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
         "--hide-scrollbars", "--force-device-scale-factor=1", "--host-resolver-rules=MAP * ~NOTFOUND",
         "--remote-debugging-pipe")


def find_browser():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page in one browser. Events are kept in `events`, errors of the page in `errors`, addresses
    that it requested in `requests`."""

    def __init__(self, width=1200, height=900, timeout=60):
        self.timeout = timeout
        self.profile = tempfile.mkdtemp(prefix="collwire-browser-")
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        words = [find_browser(), *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        line = f"exec {shlex.join(words)} 3<&{to_browser} 4>&{from_browser}"
        self.process = subprocess.Popen(["sh", "-c", line], pass_fds=(to_browser, from_browser),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session = b"", 0, None
        self.events, self.errors, self.requests = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.input)
        os.close(self.output)
        shutil.rmtree(self.profile, ignore_errors=True)

    # ---- the protocol ----

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.input], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.input, 1 << 16) if ready else None
            if data is None:
                raise TimeoutError("the browser does not answer")
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        self.events.append(message)
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details.get("text"))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.timeout
        while True:
            answer = self.receive(deadline)
            if answer.get("id") != self.number:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    # ---- what a reader does ----

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, path):
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("document.readyState === 'complete' && document.querySelector('main') !== null")

    def run(self, expression):
        """The value of a JavaScript expression; an exception of it is raised."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description"))
        return answer["result"].get("value")

    def wait(self, expression, seconds=60):
        deadline = time.monotonic() + seconds
        while not self.holds(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def holds(self, expression):
        """False also while the page changes to another one."""
        try:
            return self.run(expression)
        except RuntimeError:
            return False

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def key(self, key, code=None):
        text = key if len(key) == 1 else None
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=code or key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code or key)

    def picture(self, path, full=False):
        more = {}
        if full:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            more = {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
        data = self.call("Page.captureScreenshot", format="png", **more)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("report")
    parser.add_argument("out")
    parser.add_argument("--width", type=int, default=1200)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--pdf", action="store_true")
    options = parser.parse_args()
    with Browser(options.width, options.height) as browser:
        browser.scheme("dark" if options.dark else "light")
        browser.open(options.report)
        if options.pdf:
            browser.pdf(options.out)
        else:
            browser.picture(options.out, options.full)
        for error in browser.errors:
            print("error:", error, file=sys.stderr)


if __name__ == "__main__":
    main()
