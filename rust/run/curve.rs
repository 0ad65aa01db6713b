//! The anytime curve: the bounds of the whole problem over time, in a list of bounded length.

use super::progress::Moment;
use crate::cost::Cost;

/// More moments than this are thinned out.
const MOST: usize = 512;

#[derive(Debug, Default)]
pub struct Curve {
    moments: Vec<Moment>,
}

impl Curve {
    pub fn changed(&self, lower: Cost, upper: Cost) -> bool {
        (self.moments.last()).is_none_or(|m| m.upper_cost != upper || m.lower_cost != lower)
    }

    pub fn len(&self) -> usize {
        self.moments.len()
    }

    /// Bounds only tighten: a moment that says less than the one before it says what that one said.
    pub fn push(&mut self, moment: Moment) {
        let moment = match self.moments.last() {
            Some(last) => last.and(&moment),
            None => moment,
        };
        self.moments.push(moment);
        if self.moments.len() >= MOST {
            // Every other one, and always the last.
            let last = self.moments.len() - 1;
            let mut at = 0;
            self.moments.retain(|_| {
                at += 1;
                (last + 1 - at).is_multiple_of(2)
            });
        }
    }

    /// All moments, closed with the final bounds. Where a search was cut short before it could
    /// write down its best tree, the tree that it has is what the curve claims.
    pub fn closed(&self, last: Moment) -> Vec<Moment> {
        let mut moments = self.moments.clone();
        for moment in &mut moments {
            if moment.upper_cost < last.upper_cost {
                (moment.upper, moment.upper_cost) = (last.upper, last.upper_cost);
            }
            if moment.lower_cost > last.lower_cost {
                (moment.lower, moment.lower_cost) = (last.lower, last.lower_cost);
            }
        }
        moments.push(last);
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(at: Cost, lower: Cost, upper: Cost) -> Moment {
        let (seconds, lower_cost, upper_cost) = (at as f64, lower, upper);
        Moment { seconds, lower: lower as f64, upper: upper as f64, lower_cost, upper_cost }
    }

    #[test]
    fn long_curves_are_thinned_and_keep_their_last_moment() {
        let mut curve = Curve::default();
        for at in 0..100_000 {
            curve.push(moment(at, at, 200_000 - at));
            assert!(curve.len() <= MOST);
            assert_eq!(curve.moments.last().unwrap().lower_cost, at);
        }
        assert!(curve.len() >= MOST / 2 - 1);
        let all = curve.closed(moment(100_000, 100_000, 100_000));
        assert!(all.windows(2).all(|m| m[0].seconds < m[1].seconds && m[0].lower < m[1].lower));
    }

    #[test]
    fn bounds_never_loosen_and_end_at_the_final_ones() {
        let mut curve = Curve::default();
        curve.push(moment(0, 1, 9));
        curve.push(moment(1, 0, 10));
        curve.push(moment(2, 3, 5));
        let bounds = |all: Vec<Moment>| -> Vec<(Cost, Cost)> {
            all.iter().map(|m| (m.lower_cost, m.upper_cost)).collect()
        };
        assert_eq!(bounds(curve.closed(moment(3, 4, 4))), [(1, 9), (1, 9), (3, 5), (4, 4)]);
        assert_eq!(bounds(curve.closed(moment(3, 3, 7))), [(1, 9), (1, 9), (3, 7), (3, 7)]);
    }
}
