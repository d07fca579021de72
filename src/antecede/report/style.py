"""How pages look: one style for all of them, in light and in dark, on paper and on a telephone."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root { --ink: #1c1c1c; --soft: #5c5c5c; --line: #d9d9d9; --ground: #f7f7f7; --link: #1b4f8a; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
a { color: var(--link); } h1 { font-size: 1.6rem; } td a { white-space: nowrap; }
h2 { font-size: 1.25rem; margin: 3rem 0 0; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { font-size: 1.05rem; margin: 2.4rem 0 .3rem; } h3 a { font-weight: 400; font-size: .86rem; text-decoration: none; }
blockquote { margin: .4rem 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft);
font-style: italic; } figure { margin: 1rem 0; } img { max-width: 100%; }
figcaption, .small { color: var(--soft); font-size: .86rem; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .82rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem; border-bottom: 1px solid var(--line); }
th { vertical-align: bottom; } .n { text-align: right; white-space: nowrap; } .n i { color: var(--soft); }
.verdict { padding: .35rem .7rem; border-left: 6px solid; background: var(--ground); }
.mark { border-left: 6px solid; white-space: nowrap; } .holds { border-left-color: #2f7d4f; }
.only { border-left-color: #a08000; } .not { border-left-color: #b03a2e; } .open { border-left-color: #888; }
code { background: var(--ground); padding: .1rem .3rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) { figure img { max-width: none; width: 38rem; } .wide { display: none; } }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --soft: #b0b0b0; --line: #444; --ground: #242424;
--link: #8ab4f8; } body { background: #161616; } img { background: white; } }
"""
