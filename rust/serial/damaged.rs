//! What is said of bytes that cannot be read.

use crate::error::Error;

/// The error of bytes that cannot be what they say they are.
pub fn damaged(what: &str) -> Error {
    Error::invalid(format!("these bytes are damaged: {what}"))
}
