//! Which step is next: the one that would still have had the least of its share of the time after
//! one more turn, so that those with large shares have several turns before others have one. Turns
//! in vain count for more and more time, so that steps that find something have most of it.

use std::time::Duration;

/// A turn in vain counts twice as much as the one before, up to 2 to this power.
const MOST_DOUBLED: u32 = 3;

/// Things that take turns. What is new begins with as much as the one that has had the least.
pub struct Turns<S> {
    all: Vec<Turn<S>>,
}

struct Turn<S> {
    step: S,
    share: f64,
    /// Seconds by share.
    had: f64,
    /// Turns since it last found something.
    in_vain: u32,
    /// Whether it comes before all that do not.
    is_next: bool,
}

impl<S: Copy + PartialEq> Turns<S> {
    pub fn new() -> Self {
        Turns { all: Vec::new() }
    }

    /// `share` of the time, beside what the others have. What waits already keeps its place.
    pub fn add(&mut self, step: S, share: u32) {
        if self.all.iter().all(|turn| turn.step != step) {
            let had = self.all.iter().map(|turn| turn.had).fold(f64::INFINITY, f64::min);
            let had = if had.is_finite() { had } else { 0.0 };
            let share = f64::from(share.max(1));
            self.all.push(Turn { step, share, had, in_vain: 0, is_next: false });
        }
    }

    /// Before all others, once.
    pub fn add_first(&mut self, step: S, share: u32) {
        self.remove(step);
        self.add(step, share);
        self.all.rotate_right(1);
        self.all[0].is_next = true;
    }

    pub fn remove(&mut self, step: S) {
        self.all.retain(|turn| turn.step != step);
    }

    /// Whose turn it is, for so long. Of equal ones the first.
    pub fn next(&self, time: Duration) -> Option<S> {
        let then = |turn: &Turn<S>| turn.had + time.as_secs_f64() / turn.share;
        let first = self.all.iter().find(|turn| turn.is_next);
        first
            .or_else(|| self.all.iter().min_by(|a, b| then(a).total_cmp(&then(b))))
            .map(|turn| turn.step)
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// A turn took so long, and found something or did not.
    pub fn took(&mut self, step: S, time: Duration, found: bool) {
        for turn in self.all.iter_mut().filter(|turn| turn.step == step) {
            turn.is_next = false;
            turn.in_vain = if found { 0 } else { turn.in_vain + 1 };
            let counts = f64::from(1u32 << turn.in_vain.min(MOST_DOUBLED));
            turn.had += counts * time.as_secs_f64() / turn.share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_share() {
        let mut turns = Turns::new();
        turns.add('a', 3);
        turns.add('b', 1);
        let mut had = Vec::new();
        for _ in 0..8 {
            let step = turns.next(Duration::from_secs(1)).unwrap();
            turns.took(step, Duration::from_secs(1), true);
            had.push(step);
        }
        assert_eq!(had.iter().filter(|&&step| step == 'a').count(), 6);
        assert_eq!(had[..2], ['a', 'a']);
        turns.add('c', 1);
        turns.add_first('d', 1);
        assert_eq!(turns.next(Duration::from_secs(1)), Some('d'));
        turns.remove('d');
        turns.remove('a');
        turns.remove('b');
        assert_eq!(turns.next(Duration::from_secs(1)), Some('c'));
        turns.remove('c');
        assert_eq!(turns.next(Duration::from_secs(1)), None);
    }

    #[test]
    fn what_finds_nothing_has_fewer_turns() {
        let mut turns = Turns::new();
        turns.add('a', 1);
        turns.add('b', 1);
        let mut had = Vec::new();
        for _ in 0..90 {
            let step = turns.next(Duration::from_secs(1)).unwrap();
            turns.took(step, Duration::from_secs(1), step == 'b');
            had.push(step);
        }
        let in_vain = had.iter().filter(|&&step| step == 'a').count();
        assert!((8..=14).contains(&in_vain), "{in_vain}");
    }
}
