//! When a search waits for a better tree, and for how long.
//!
//! Slices of the time come ever later and are ever longer, so that together they are a small share
//! of what the search takes. Where the time is limited, they grow with the share of it that is
//! over, and a large one comes before its end: a search that has not ended by then mostly does not,
//! and its tree is all that it will have.

use std::time::Duration;

/// The first slice begins when the search has taken so long. Shorter ones search the same nodes in
/// every run.
const FIRST: Duration = Duration::from_millis(250);

/// Where the time is limited and no tree is known, the first slice begins at this share of the
/// limit at the latest, because a search that has so little time mostly has a poor tree when it
/// ends.
const FIRST_SHARE: f64 = 0.1;

/// It begins before the search where setting up takes this share of the limit: the search would
/// have no tree before that.
const SET_UP_SHARE: f64 = 0.05;

/// Setting up takes so long for a point and a feature, about.
const SET_UP: Duration = Duration::from_nanos(50);

/// It takes up to this share of a short limit then.
const BEFORE_SEARCH: f64 = 0.25;

/// The next one begins when it has taken so many times as long.
const TIMES: u32 = 3;

/// What a slice is of the time that the search has taken.
const SHARE: f64 = 0.03;

/// Where the time is limited, what it is at the end of it; it rises evenly to this.
const SHARE_AT_LIMIT: f64 = 0.5;

/// No slice is shorter, because little is found in less.
const LEAST: Duration = Duration::from_millis(20);

/// The large slice begins at this share of a limit.
const LAST: f64 = 0.6;

/// It takes up to this share of what is left then.
const LAST_SHARE: f64 = 0.5;

/// Limits below this are short. Where no tree is known, slices take more of them, because there is
/// less time to prove anything than to find a good tree.
const SHORT: Duration = Duration::from_millis(2_500);

/// Slices of short limits are as long as the search has taken, and at least this share of the
/// limit.
const LEAST_OF_SHORT: f64 = 0.15;

const LAST_SHARE_OF_SHORT: f64 = 0.75;

/// A search is far from its end if its lower bound is below this share of the best tree's cost when
/// this share of a limit is over. Then slices of a short limit are so many times as long.
const FAR: f64 = 0.25;
const FAR_AFTER: f64 = 0.2;
const TIMES_WHERE_FAR: u32 = 3;
const LAST_SHARE_WHERE_FAR: f64 = 0.9;

pub struct Clock {
    limit: Option<Duration>,
    /// Whether trees are looked for early and long, because none is known yet.
    hurries: bool,
    set_up: Duration,
    /// The search's own time at which the next slice begins.
    next: Duration,
    /// The time of slices so far.
    aside: Duration,
    was_last: bool,
}

impl Clock {
    /// `goes_on`: from a tree that is known, mostly by slices of an earlier search. `values`: what
    /// is set up.
    pub fn new(limit: Option<Duration>, goes_on: bool, values: usize) -> Clock {
        let hurries = !goes_on && limit.is_some();
        let set_up = SET_UP.mul_f64(values as f64);
        let next = match limit {
            Some(limit) if hurries && set_up > limit.mul_f64(SET_UP_SHARE) => Duration::ZERO,
            Some(limit) if hurries => FIRST.min(limit.mul_f64(FIRST_SHARE)),
            _ => FIRST,
        };
        Clock { limit, hurries, set_up, next, aside: Duration::ZERO, was_last: false }
    }

    /// The time of the run at which the next slice begins, if there is one; 0 is before the search.
    pub fn due(&self) -> Option<Duration> {
        let next = self.next + self.aside;
        match self.limit {
            None => Some(next),
            Some(_) if self.was_last => None,
            Some(limit) => Some(next.min(limit.mul_f64(LAST))),
        }
    }

    /// How long the slice that begins now may be. `proved`: the lower bound as a share of the best
    /// tree's cost.
    pub fn slice(&mut self, now: Duration, proved: f64) -> Duration {
        let own = now.saturating_sub(self.aside);
        let next = (self.next * TIMES).max(own * TIMES);
        let Some(limit) = self.limit else {
            self.next = next;
            return own.mul_f64(SHARE).max(LEAST);
        };
        let is_short = limit < SHORT && self.hurries;
        let is_far = is_short && proved < FAR && now >= limit.mul_f64(FAR_AFTER);
        if now >= limit.mul_f64(LAST) {
            self.was_last = true;
            let share = match (is_far, is_short) {
                (true, _) => LAST_SHARE_WHERE_FAR,
                (_, true) => LAST_SHARE_OF_SHORT,
                _ => LAST_SHARE,
            };
            return limit.saturating_sub(now).mul_f64(share);
        }
        if self.next.is_zero() {
            self.next = FIRST.min(limit.mul_f64(FIRST_SHARE));
            // As long as the search sets up, at most.
            let most = limit.mul_f64(BEFORE_SEARCH);
            return if is_short { most } else { most.min(self.set_up) };
        }
        self.next = next;
        if is_short {
            let own = if is_far { own * TIMES_WHERE_FAR } else { own };
            let most = limit.saturating_sub(now).mul_f64(LAST_SHARE_WHERE_FAR);
            return own.max(limit.mul_f64(LEAST_OF_SHORT)).max(LEAST).min(most);
        }
        let over = now.as_secs_f64() / limit.as_secs_f64();
        own.mul_f64((SHARE_AT_LIMIT * over).max(SHARE)).max(LEAST)
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
        let mut clock = Clock::new(None, false, 1 << 20);
        let (mut now, mut aside) = (Duration::ZERO, Duration::ZERO);
        while now < Duration::from_secs(100) {
            now = clock.due().unwrap();
            let slice = clock.slice(now, 0.0);
            clock.took(now, now + slice);
            (now, aside) = (now + slice, aside + slice);
        }
        assert!(aside < now.mul_f64(0.05), "{aside:?} of {now:?}");
    }

    #[test]
    fn a_large_slice_comes_before_the_limit() {
        let limits = [0.1, 1.0, 30.0].map(Duration::from_secs_f64);
        let kinds = [(false, 0), (true, 0), (false, 1 << 24), (true, 1 << 24)];
        let kinds = limits.into_iter().flat_map(|limit| kinds.map(|kind| (limit, kind)));
        let kinds = kinds.flat_map(|kind| [0.0, 0.9].map(|proved| (kind, proved)));
        for ((limit, (goes_on, values)), proved) in kinds {
            let mut clock = Clock::new(Some(limit), goes_on, values);
            let (mut now, mut aside) = (Duration::ZERO, Duration::ZERO);
            while let Some(due) = clock.due() {
                assert!(due <= limit.mul_f64(LAST));
                // A slice may end after the next one is due.
                now = now.max(due);
                let slice = clock.slice(now, proved);
                clock.took(now, now + slice);
                (now, aside) = (now + slice, aside + slice);
            }
            assert!(aside >= limit.mul_f64(0.2) && now < limit, "{aside:?} of {limit:?}");
        }
    }
}
