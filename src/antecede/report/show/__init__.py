"""A run as a page to open: its verdict, a space-time diagram of what is asked for, and one of each finding.

`chosen` says which rows are drawn, `layout` where each stands, `svg` is the drawing, `page` the page around it.
"""
