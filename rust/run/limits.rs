//! How far a search may go, and why it ended.

use std::time::Duration;

#[derive(Debug, Clone, Default)]
pub struct Limits {
    pub time: Option<Duration>,
    /// Bytes that may be held.
    pub memory: Option<u64>,
    /// Bytes that are held when the search begins, by what it is given.
    pub held: u64,
    /// Stop once objective − lower bound is no more than this.
    pub gap: f64,
    /// Worker threads; 0 counts as 1.
    pub threads: usize,
    /// Whether the best trees of all smaller sizes will be asked for as well, so that they are
    /// better searched together.
    pub all_sizes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Optimal,
    OptimalGivenGuess,
    GapLimit,
    TimeLimit,
    MemoryLimit,
    Interrupted,
    /// The search is complete, but rounding leaves more between the bounds than an optimum may
    /// have.
    RoundingLimit,
}

const ALL: [Status; 7] = [
    Status::Optimal,
    Status::OptimalGivenGuess,
    Status::GapLimit,
    Status::TimeLimit,
    Status::MemoryLimit,
    Status::Interrupted,
    Status::RoundingLimit,
];

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Optimal => "optimal",
            Status::OptimalGivenGuess => "optimal_given_guess",
            Status::GapLimit => "gap_limit",
            Status::TimeLimit => "time_limit",
            Status::MemoryLimit => "memory_limit",
            Status::Interrupted => "interrupted",
            Status::RoundingLimit => "rounding_limit",
        }
    }

    pub(super) fn code(self) -> u8 {
        self as u8 + 1
    }

    pub(super) fn from_code(code: u8) -> Option<Status> {
        ALL.get(usize::from(code).checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back() {
        for status in ALL {
            assert_eq!(Status::from_code(status.code()), Some(status));
        }
        assert_eq!(Status::from_code(0), None);
    }
}
