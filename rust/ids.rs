//! Typed indices, so that a feature is never taken for a column.

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            fn from(index: usize) -> Self {
                $name(u32::try_from(index).expect("index fits in 32 bits"))
            }
        }
    };
}

/// One side of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

index! {
    /// A column of the user's frame.
    ColumnId
}
index! {
    /// An ordered axis of the search: a numeric or Boolean column, or one value of a category.
    FeatureId
}
index! {
    /// A node of a finished tree.
    TreeNodeId
}
