"""A fitted tree in other forms: one file for each. :class:`certree.tree.Tree` has a method for
each."""
