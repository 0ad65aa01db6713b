//! Everything that can go wrong, in words a user can act on.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The caller's data or parameters do not make a problem. The text names what and what to do.
    Invalid(String),
    /// The finished tree does not cost what the search said: a defect, never returned as an answer.
    Mismatch { searched: String, recomputed: String },
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn invalid(text: impl Into<String>) -> Self {
        Error::Invalid(text.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid(text) => f.write_str(text),
            Error::Mismatch { searched, recomputed } => write!(
                f,
                "the tree found costs {recomputed} but the search claimed {searched}; \
                 this is a defect in certree, please report it with the data"
            ),
        }
    }
}

impl std::error::Error for Error {}
