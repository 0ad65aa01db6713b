"""Frames with a column of trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from typing import Self


class TreeFrame(pl.DataFrame):
    """A frame with a column of trees that can be pickled, which polars refuses because it does not
    know how to write them. What polars makes of it is a frame like any other."""

    def __reduce__(self) -> tuple[Any, ...]:
        trees = [name for name, dtype in self.schema.items() if dtype == pl.Object]
        objects = {name: self[name].to_list() for name in trees}
        others = pl.DataFrame(self.drop(trees).to_dict())
        return _restored, (type(self), self.columns, others, objects, self._more())

    def __copy__(self) -> Self:
        made = self.clone()
        made.__dict__.update(self._more())
        return made

    def __deepcopy__(self, memo: Any = None) -> Self:
        # Neither frames nor trees change.
        return self.__copy__()

    def _more(self) -> dict[str, Any]:
        """The attributes that a subclass has set on the frame, by name."""
        return {name: value for name, value in vars(self).items() if name != "_df"}


def _restored(
    kind: type[TreeFrame],
    columns: Sequence[str],
    others: pl.DataFrame,
    objects: Mapping[str, Sequence[Any]],
    more: Mapping[str, Any],
) -> TreeFrame:
    series = {name: pl.Series(values, dtype=pl.Object) for name, values in objects.items()}
    frame = kind({name: series[name] if name in series else others[name] for name in columns})
    frame.__dict__.update(more)
    return frame
