"""A tree as cards with places, before anything draws them: ``export/to_svg.py`` and
``export/to_matplotlib.py`` draw the same cards."""
