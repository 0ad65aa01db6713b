"""What the site needs beside its pages."""

import re

#: Docstrings name each other as ``:meth:`predict` ``, which the site's Markdown does not know.
ROLE = re.compile(r":(?:attr|class|func|meth|mod):(?=<code)")


def on_page_content(html, **_):
    return ROLE.sub("", html)
