"""check_browser.py BROWSER TRACE.json FOLDER: a headless browser parses the trace with
its own JSON and walks it: prints how many events and slices it saw, and how many
slices lie across another on their track."""
import json
import pathlib
import re
import subprocess
import sys

PAGE = """<html><body><pre>not run</pre><script>
const trace = JSON.parse(%s);
// Times are decimals of a microsecond, the trace's are nanoseconds.
const ns = (value) => Math.round(value * 1000);
const tracks = new Map();
let slices = 0, across = 0;
for (const event of trace.traceEvents) {
  const key = event.pid + "/" + event.tid;
  if (!tracks.has(key)) tracks.set(key, []);
  const open = tracks.get(key), begin = ns(event.ts);
  const last = () => open[open.length - 1];
  if (event.ph === "B") {
    ++slices;
    open.push(Infinity);
  } else if (event.ph === "E") {
    while (open.length && last() !== Infinity) open.pop();
    if (open.pop() === undefined) ++across;
  } else if (event.ph === "X") {
    ++slices;
    const end = begin + ns(event.dur);
    while (open.length && last() <= begin) open.pop();
    if (open.length && end > last()) ++across;
    open.push(end);
  }
}
document.querySelector("pre").textContent =
    `${trace.traceEvents.length} events, ${slices} slices, ${across} across`;
</script></body></html>
"""


def main():
    browser, trace, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    text = pathlib.Path(trace).read_text(encoding="utf-8")
    page = folder / "page.html"
    page.write_text(PAGE % json.dumps(text).replace("</", "<\\/"), encoding="utf-8")
    run = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                          "--dump-dom", page.absolute().as_uri()],
                         check=True, capture_output=True, text=True, timeout=60)
    print(re.search("<pre>(.*?)</pre>", run.stdout)[1])


main()
