"""Run the README's example and draw what it prints as docs/pictures/wine.svg."""

import re
from contextlib import redirect_stdout
from html import escape
from io import StringIO
from pathlib import Path

HERE = Path(__file__).parent
LINE, LETTER, MARGIN = 19, 7.9, 18

example = re.search(r"```python\n(.*?)```", (HERE.parent.parent / "README.md").read_text(), re.S)
assert example is not None
printed = StringIO()
with redirect_stdout(printed):
    exec(example[1])
lines = printed.getvalue().splitlines()

width = max(map(len, lines)) * LETTER + 2 * MARGIN
height = len(lines) * LINE + 2 * MARGIN
body = []
for number, line in enumerate(lines):
    y = MARGIN + (number + 0.75) * LINE
    # A leaf's answer and probability stand out; the rules that lead there are what is read first.
    rule, colon, leaf = line.partition(": ")
    is_leaf = bool(re.match(r".* \d\.\d\d \[", leaf))
    text = f"{escape(rule + colon)}<tspan class='leaf'>{escape(leaf)}</tspan>"
    body.append(f"<text x='{MARGIN}' y='{y:.0f}'>{text if is_leaf else escape(line)}</text>")
(HERE / "wine.svg").write_text(
    f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"
 width="{width:.0f}" height="{height:.0f}" role="img" aria-label="The printed tree">
<style>
text {{ font: 13px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
       white-space: pre; fill: #d7dce2 }}
.leaf {{ fill: #7fd1b9 }}
</style>
<rect width="100%" height="100%" rx="8" fill="#1b2027"/>
{chr(10).join(body)}
</svg>
"""
)
