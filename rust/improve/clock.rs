//! When a search waits for a better tree, and for how long.
//!
//! Slices of the time come ever later and are ever longer, so that together they are a small share
//! of what the search takes. Where the time is limited, a large one comes before its end: a search
//! that has not ended by then mostly does not, and its tree is all that it will have.

use std::time::Duration;

/// The first slice begins when the search has taken so long. Shorter ones search the same nodes in
/// every run.
const FIRST: Duration = Duration::from_millis(250);

/// Where the time is limited and no tree is known, the first slice begins at this share of the limit
/// at the latest, because a search that has so little time mostly has a poor tree when it ends.
const FIRST_SHARE: f64 = 0.1;

/// The next one begins when it has taken so many times as long.
const TIMES: u32 = 3;

/// What a slice is of the time that the search has taken.
const SHARE: f64 = 0.03;

/// No slice is shorter, because little is found in less.
const LEAST: Duration = Duration::from_millis(20);

/// The large slice begins at this share of a limit.
const LAST: f64 = 0.6;

/// It takes up to this share of what is left then.
const LAST_SHARE: f64 = 0.5;

/// Limits below this are short. Where no tree is known, the large slice takes more of them, because
/// there is less time to prove anything than to find a good tree.
const SHORT: Duration = Duration::from_millis(2_500);

const LAST_SHARE_OF_SHORT: f64 = 0.75;

/// Limits below this are too short for either, because a slice takes longer than they leave.
const TOO_SHORT: Duration = Duration::from_millis(100);

pub struct Clock {
    limit: Option<Duration>,
    /// Whether trees are looked for early and long, because none is known yet.
    hurries: bool,
    /// The search's own time at which the next slice begins.
    next: Duration,
    /// The time of slices so far.
    aside: Duration,
    was_last: bool,
}

impl Clock {
    /// `goes_on`: from a tree that is known, mostly by slices of an earlier search.
    pub fn new(limit: Option<Duration>, goes_on: bool) -> Clock {
        let hurries = !goes_on && limit.is_some_and(|limit| limit >= TOO_SHORT);
        let next = match limit {
            Some(limit) if hurries => FIRST.min(limit.mul_f64(FIRST_SHARE)),
            _ => FIRST,
        };
        Clock { limit, hurries, next, aside: Duration::ZERO, was_last: false }
    }

    /// The time of the run at which the next slice begins, if there is one.
    pub fn due(&self) -> Option<Duration> {
        let next = self.next + self.aside;
        match self.limit {
            None => Some(next),
            Some(_) if self.was_last => None,
            Some(limit) => Some(next.min(limit.mul_f64(LAST))),
        }
    }

    /// How long the slice that begins now may be.
    pub fn slice(&mut self, now: Duration) -> Duration {
        if let Some(limit) = self.limit
            && now >= limit.mul_f64(LAST)
        {
            self.was_last = true;
            let is_short = limit < SHORT && self.hurries;
            let share = if is_short { LAST_SHARE_OF_SHORT } else { LAST_SHARE };
            return limit.saturating_sub(now).mul_f64(share);
        }
        let own = now.saturating_sub(self.aside);
        self.next = (self.next * TIMES).max(own * TIMES);
        own.mul_f64(SHARE).max(LEAST)
    }

    /// A slice is over.
    pub fn took(&mut self, start: Duration, end: Duration) {
        self.aside += end.saturating_sub(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_a_small_share_of_the_time() {
        let mut clock = Clock::new(None, false);
        let (mut now, mut aside) = (Duration::ZERO, Duration::ZERO);
        while now < Duration::from_secs(100) {
            now = clock.due().unwrap();
            let slice = clock.slice(now);
            clock.took(now, now + slice);
            (now, aside) = (now + slice, aside + slice);
        }
        assert!(aside < now.mul_f64(0.05), "{aside:?} of {now:?}");
    }

    #[test]
    fn a_large_slice_comes_before_the_limit() {
        let limits = [0.1, 1.0, 30.0].map(Duration::from_secs_f64);
        for (limit, goes_on) in limits.into_iter().flat_map(|l| [(l, false), (l, true)]) {
            let mut clock = Clock::new(Some(limit), goes_on);
            let (mut now, mut last) = (Duration::ZERO, Duration::ZERO);
            while let Some(due) = clock.due() {
                assert!(due <= limit.mul_f64(LAST));
                // A slice may end after the next one is due.
                now = now.max(due);
                last = clock.slice(now);
                clock.took(now, now + last);
                now += last;
            }
            assert!(last >= limit.mul_f64(0.15) && now < limit, "{last:?} of {limit:?}");
        }
    }
}
