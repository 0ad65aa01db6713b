//! Everything that can go wrong, in words a user can act on.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes in words.
pub fn in_words(bytes: u64) -> String {
    let (mut size, mut unit) = (bytes as f64, "bytes");
    for larger in ["kB", "MB", "GB", "TB"] {
        if size >= 1000.0 {
            (size, unit) = (size / 1000.0, larger);
        }
    }
    if unit == "bytes" { format!("{size} {unit}") } else { format!("{size:.1} {unit}") }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The caller's data or parameters do not make a problem. The text names what and what to do.
    Invalid(String),
    /// A task breaks its contract, or what it calls failed. The text says what must hold.
    Task(String),
    /// The finished tree does not cost what the search said: a defect, never returned as an answer.
    Mismatch { searched: String, recomputed: String },
    /// The finished tree asks for a column where its context forbids that: a defect, never returned
    /// as an answer.
    Forbidden { node: usize, column: usize },
    /// The search panicked, or the system gave it no thread.
    Failed(String),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn invalid(text: impl Into<String>) -> Self {
        Error::Invalid(text.into())
    }

    /// A task that breaks its contract; `clause` is what must hold.
    pub fn task(clause: impl fmt::Display) -> Self {
        Error::Task(format!("the task breaks its contract: {clause}"))
    }

    /// From what `catch_unwind` or `join` gives.
    pub fn panicked(panic: &(dyn Any + Send)) -> Self {
        let said = (panic.downcast_ref::<String>().map(String::as_str))
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no reason given");
        Error::Failed(format!(
            "{said}; this is a defect in certree, please report it with the data"
        ))
    }

    /// What `work` returns; a panic anywhere in it is an error. Every way from a problem to an
    /// answer is within.
    pub fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|panic| Err(Error::panicked(panic.as_ref())))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid(text) | Error::Task(text) => f.write_str(text),
            Error::Mismatch { searched, recomputed } => write!(
                f,
                "the tree found costs {recomputed} but the search claimed {searched}; \
                 this is a defect in certree, please report it with the data"
            ),
            Error::Forbidden { node, column } => write!(
                f,
                "node {node} of the tree found asks for column {column}, which is not allowed there; \
                 this is a defect in certree, please report it with the data"
            ),
            Error::Failed(text) => write!(f, "the search failed: {text}"),
        }
    }
}

impl std::error::Error for Error {}
