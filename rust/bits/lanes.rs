//! Lanes: 32 columns side by side, 16 rows of each in one `u16`.

/// Columns in one block of lanes.
pub const LANES: usize = 32;
/// Rows in one lane.
pub const ROWS: usize = 16;

/// 16 rows of 32 columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub struct Lanes(pub [u16; LANES]);

impl Lanes {
    pub const ZERO: Lanes = Lanes([0; LANES]);
    pub const MAX: Lanes = Lanes([u16::MAX; LANES]);
}
