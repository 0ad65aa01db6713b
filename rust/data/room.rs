//! How much memory and time there is for reading a table.

use std::time::{Duration, Instant};

use crate::error::{Error, Result, in_words};

/// What reading may still take; by default any amount.
#[derive(Debug, Clone, Copy, Default)]
pub struct Room {
    bytes: Option<u64>,
    end: Option<Instant>,
}

impl Room {
    /// So many bytes, and so much time from now on.
    pub fn new(bytes: Option<u64>, time: Option<Duration>) -> Room {
        Room { bytes, end: time.and_then(|time| Instant::now().checked_add(time)) }
    }

    /// True if the time will be over by then.
    pub fn is_over_in(&self, time: Duration) -> bool {
        self.end.is_some_and(|end| Instant::now() + time >= end)
    }

    /// An error unless so many bytes may be held at once.
    pub fn require(&self, bytes: usize, what: impl FnOnce() -> String) -> Result<()> {
        match self.bytes {
            Some(left) if bytes as u64 > left => Err(Error::invalid(format!(
                "{} takes {} ({bytes} bytes), but memory_limit leaves {} for it: raise it, or give \
                 fewer rows, columns or distinct values",
                what(),
                in_words(bytes as u64),
                in_words(left),
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_named() {
        let room = Room::new(Some(1000), None);
        assert!(room.require(1000, String::new).is_ok());
        let error = room.require(2500, || "a table".to_string()).unwrap_err().to_string();
        assert!(error.starts_with("a table takes 2.5 kB (2500 bytes), but memory_limit leaves"));
        assert!(Room::default().require(usize::MAX, String::new).is_ok());
    }

    #[test]
    fn time_is_over_before_what_takes_longer() {
        let room = Room::new(None, Some(Duration::from_secs(3600)));
        assert!(!room.is_over_in(Duration::ZERO) && room.is_over_in(Duration::from_secs(4000)));
        assert!(!Room::default().is_over_in(Duration::MAX));
    }
}
