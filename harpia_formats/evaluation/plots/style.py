"""The style of charts: colours as variables, with light and dark values."""

_VARIABLES = """
:root {
  color-scheme: light dark;
  --plot-ink: #1f2328;
  --plot-muted: #59636e;
  --plot-grid: #d1d9e0;
  --plot-mark: #0b5cad;
  --plot-strong: #b3261e;
  --plot-middle: #b57614;
  --plot-surface: #ffffff;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --plot-ink: #e6edf3;
    --plot-muted: #9da7b3;
    --plot-grid: #3d444d;
    --plot-mark: #6cb0f5;
    --plot-strong: #ff8a80;
    --plot-middle: #e3b341;
    --plot-surface: #0f1419;
  }
}
"""
_RULES = """
.plot { margin: 0 0 1rem; max-width: 46rem; break-inside: avoid; }
.plot > figcaption { font-weight: 600; margin: 0 0 .35rem; overflow-wrap: anywhere; }
.plot > svg { display: block; overflow: visible; color: var(--plot-ink); }
.plot-legend {
  display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: 0 0 .35rem;
  font-size: .8rem;
}
.plot svg text {
  fill: currentColor; font: 12px system-ui, sans-serif;
  paint-order: stroke; stroke: var(--plot-surface); stroke-width: 3px;
}
.plot svg .soft { fill: var(--plot-muted); }
.plot svg .grid { stroke: var(--plot-grid); stroke-width: 1; }
.plot svg .zero { stroke: var(--plot-muted); stroke-width: 1; }
.plot svg .mark { fill: var(--plot-mark); stroke: var(--plot-mark); }
.plot svg .error { fill: var(--plot-strong); stroke: var(--plot-strong); }
.plot svg .warning {
  fill: var(--plot-middle); stroke: var(--plot-middle); fill-opacity: .45;
}
.plot svg .note { fill: var(--plot-surface); stroke: var(--plot-muted); }
.plot svg .hollow { fill: var(--plot-surface); stroke: var(--plot-mark); }
.plot svg .reach { stroke: var(--plot-mark); stroke-width: 2; }
.plot-numbers { margin: .35rem 0 0; }
.plot-numbers > summary { color: var(--plot-muted); cursor: pointer; font-size: .8rem; }
.plot-numbers table { font-size: .8rem; }
.plot-numbers td, .plot-numbers th { text-align: right; padding: .1rem .6rem; }
.plot-numbers td:first-child, .plot-numbers th:first-child { text-align: left; }
.plot-numbers td { overflow-wrap: anywhere; }
.plot-said { color: var(--plot-muted); }
@media print {
  .plot svg rect, .plot svg circle, .plot svg line {
    print-color-adjust: exact; -webkit-print-color-adjust: exact;
  }
}
"""

#: CSS for a page with charts. A page may set the variables itself, behind this.
STYLE = _VARIABLES + _RULES

#: The class of an element around charts on a page of others, such as a notebook.
EMBEDDED = "harpia-formats-charts"
#: CSS for charts in such an element, and for nothing else on the page: it has the text
#: colour of the page, and colours that can be seen on white and on black.
EMBEDDED_STYLE = f"""
.{EMBEDDED} {{
  --plot-ink: currentcolor;
  --plot-muted: #7d858f;
  --plot-grid: rgba(128, 128, 128, .35);
  --plot-mark: #3585cb;
  --plot-strong: #d9534a;
  --plot-middle: #b57614;
  --plot-surface: var(--jp-layout-color0, var(--vscode-editor-background, transparent));
{_RULES}}}
"""
