//! Sums of losses in as few bits as hold them: narrow ones fill wide vectors.

use std::ops::{Add, AddAssign, BitAnd, Sub, SubAssign};

use crate::cost::Cost;

/// Lanes that are worked on together; blocks are padded to whole groups of them.
pub const LANES: usize = 32;

/// An integer that holds the worst losses of all rows, added up, with a sign.
pub trait Unit:
    Copy
    + Default
    + Ord
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + AddAssign
    + SubAssign
    + 'static
{
    /// All bits.
    const ONES: Self;
    const MAX: Self;
    fn of(cost: Cost) -> Self;
    /// All bits, or none.
    fn mask(set: bool) -> Self;
    fn cost(self) -> Cost;
}

macro_rules! unit {
    ($($t:ty),*) => {$(
        impl Unit for $t {
            const ONES: Self = -1;
            const MAX: Self = <$t>::MAX;

            #[inline(always)]
            fn of(cost: Cost) -> Self {
                cost as $t
            }

            #[inline(always)]
            fn mask(set: bool) -> Self {
                -<$t>::from(set)
            }

            #[inline(always)]
            fn cost(self) -> Cost {
                self as Cost
            }
        }
    )*};
}

unit!(i16, i32, i64);

/// What the worst losses of all rows may add up to. Rows gain no more with a label than their worst
/// losses are, and every number that is worked with is what some rows gain with one label, less
/// what others gain with another, or what some rows lose: so it is within this, with either sign.
pub fn most<T: Unit>() -> Cost {
    T::MAX.cost()
}
