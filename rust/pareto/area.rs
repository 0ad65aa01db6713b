//! The area under the ROC convex hull, or under its part of low false positive rates, in integer
//! units.
//!
//! loss = 1 − (area up to `most` of the negatives) / (most · N · P). Under the whole curve all is
//! exact: a unit is 1 / (2·N·P·q), with q the denominator of λ. Under a part of it the last segment
//! is cut, which makes a fraction: losses are then rounded up to a unit of about 2⁻⁴⁰. So are those
//! of weights that are too fine for exact areas (`Area::fine`).
//!
//! The part that counts may be any number m. Where its fraction has too large a denominator, the
//! search takes the nearest one m' that there is room for. The mean height h of a curve f up to m
//! changes with m by (f(m) − h) / m, which is at most 1 / m in size: so losses are off by no more
//! than
//! |m − m'| / min(m, m').
//!
//! The relaxation is the bound of `bounds::area`, which is additive: a leaf chooses, as a label,
//! from which slope on it counts as positive.

use super::segments::doubled_area;
use super::sums::Relaxed;
use crate::bounds::area::{Lines, Segment, Whole, lines};
use crate::cost::{Cost, Scale, decimal, sum};
use crate::error::{Error, Result};
use crate::exact::Ratio;

/// Costs of whole trees stay below this, and so do those of relaxations.
const MOST: i128 = 1 << 56;

/// Losses under a part of the curve have about so many units.
const FINE: i64 = 1 << 40;

/// Binary digits that a product may have.
const ROOM: u32 = 126;

/// The largest denominator of the part that counts in finer areas: each digit is one less for
/// weights.
const FINE_DENOMINATOR: i128 = 1 << 30;

/// The nearest fraction is not looked for where one moves losses by no more than this.
const FINE_OFF: f64 = 1e-11;

/// No smaller false positive rate can be told from its neighbours with the digits that there are.
const LEAST_RATE: f64 = 1e-7;

/// What the searched part may move a loss by at most. Rates of at least `LEAST_RATE` come nearer
/// than this in denominators that the fewest digits of weights leave room for.
const MOST_OFF: f64 = 1e-6;

/// More digits of weights than this are not needed: what rounding then leaves of a million points
/// is less than a billionth.
const FINEST: u32 = 47;

/// The part of the curve that counts, and the units of areas.
#[derive(Debug, Clone)]
pub struct Area {
    pub totals: Segment,
    /// The largest false positive rate that counts, as a fraction that is searched with; 1/1 for
    /// all.
    most: (i64, i64),
    /// As it was given.
    given: f64,
    /// Units in a loss of 1.
    pub units: Cost,
    /// λ in units.
    pub leaf_cost: Cost,
    /// By how many units losses may be off since the weights, or λ, are rounded.
    pub off: Cost,
    /// By how many units a loss may be rounded up.
    up: Cost,
    /// Whether the weights are.
    pub is_rounded: bool,
}

impl Area {
    pub fn new(totals: Segment, most: f64, leaf_penalty: f64) -> Result<Area> {
        check_rate(most)?;
        // Of weights in few digits there is room for any, so that it is the penalty in the end.
        let too_large = || {
            Error::invalid(format!(
                "leaf_penalty={leaf_penalty:e} is too large to be added to an area, which is at most 1: from a \
                 penalty of 1 on, a single leaf is best"
            ))
        };
        let pairs = i128::from(totals.0) * i128::from(totals.1);
        // These are multiplied in `lost` and in `relax`, with the square of the denominator.
        let size = pairs * 2 * i128::from(totals.0).max(i128::from(totals.1));
        let denominator = (((1i128 << 84) - 1) / size).isqrt();
        let given = most;
        let most = fraction(given, denominator, 0.0).ok_or_else(too_large)?;
        // A unit that divides λ, or the finest one that there is room for: λ is then rounded down.
        let unit = if most == (1, 1) { 2 * pairs } else { 1 };
        let short = decimal(leaf_penalty).map(|(p, q)| (i128::from(p), i128::from(q)));
        let short = short.and_then(|(p, q)| {
            let units = match most {
                (1, 1) => unit.checked_mul(q)?,
                _ => q * (i128::from(FINE) / q).max(1),
            };
            Some((units, (units / q).checked_mul(p)?)).filter(|&(a, b)| a.max(b) <= MOST)
        });
        let (units, leaf_cost, off) = match short {
            Some((units, leaf_cost)) => (units, leaf_cost, 0),
            None => {
                let room = if most == (1, 1) { MOST / 2 } else { i128::from(FINE) };
                let largest = (unit as f64 * leaf_penalty).max(unit as f64);
                let times = (room as f64 / largest).floor() as i128;
                let units = unit * times;
                let leaf_cost = (&Ratio::written(leaf_penalty) * &Ratio::from(units)).floor();
                (units, leaf_cost.filter(|_| units > 0).ok_or_else(too_large)?, 1)
            }
        };
        if units > MOST || leaf_cost > MOST {
            return Err(too_large());
        }
        let area = Area {
            totals,
            most,
            given,
            units: units as Cost,
            leaf_cost: leaf_cost as Cost,
            off,
            up: if most == (1, 1) { 0 } else { 1 },
            is_rounded: false,
        };
        Ok(area.charged())
    }

    /// With what the searched fraction of the curve is off.
    fn charged(self) -> Area {
        let off = off_by(self.given, self.most);
        if off == 0.0 {
            return self;
        }
        let off = (off * self.units as f64).ceil() as Cost + 1;
        Area { off: self.off + off, is_rounded: true, ..self }
    }

    /// Areas under weights of up to `fine_bits` binary digits, in units of 2⁻⁴⁰, where the same
    /// part counts as here. `None` where the penalty is too large for them.
    pub fn fine(&self, totals: Segment, leaf_penalty: f64) -> Option<Area> {
        let leaf_cost = (&Ratio::written(leaf_penalty) * &Ratio::from(FINE)).floor()?;
        let leaf_cost = Cost::try_from(leaf_cost).ok().filter(|&x| i128::from(x) <= MOST)?;
        let most = self.fine_part()?;
        // An area and a cut segment are rounded down, and so is their share.
        let area =
            Area { totals, most, units: FINE, leaf_cost, off: 0, up: 3, is_rounded: true, ..*self };
        Some(area.charged())
    }

    /// The part that counts in `fine`.
    fn fine_part(&self) -> Option<(i64, i64)> {
        fraction(self.given, FINE_DENOMINATOR, FINE_OFF)
    }

    /// The most binary digits of a class's weight that areas in parts of 1/q² have room for.
    pub fn fine_bits(&self) -> u32 {
        let denominator = 64 - self.fine_part().map_or(1, |part| part.1).leading_zeros();
        ((ROOM - 2 - 2 * denominator.min(ROOM / 2)) / 2).min(FINEST)
    }

    /// The largest false positive rate that is searched with, as a fraction.
    pub fn most(&self) -> (i64, i64) {
        self.most
    }

    pub fn scale(&self) -> Scale {
        Scale::new(self.units as f64, 0, self.up + self.off)
    }

    /// Units of a doubled area of 1, if all of it counts and they are whole.
    pub fn whole_unit(&self) -> Option<i128> {
        let units = i128::from(self.units);
        (self.most == (1, 1) && units % self.pairs() == 0).then(|| units / self.pairs())
    }

    /// What two areas differ by at least if their costs do by this; `None` unless all of it counts.
    pub fn doubled_area_of(&self, cost: i128) -> Option<i128> {
        let each = self.pairs() / i128::from(self.units);
        (self.most == (1, 1)).then(|| cost * if cost < 0 { each + 1 } else { each })
    }

    /// The doubled area of all pairs.
    fn pairs(&self) -> i128 {
        2 * i128::from(self.totals.0) * i128::from(self.totals.1)
    }

    pub fn cost(&self, curve: &[Segment], leaves: u32) -> Cost {
        self.lost(curve) + self.leaf_cost * Cost::from(leaves)
    }

    /// The loss of leaves with these weights of negatives and positives.
    pub fn real_loss(&self, mut leaves: Vec<[Ratio; 2]>) -> Ratio {
        // A leaf that weighs nothing is no part of the curve, and has no slope to be sorted by.
        leaves.retain(|leaf| leaf.iter().any(|weight| !weight.is_zero()));
        leaves.sort_by(|a, b| (&b[1] * &a[0]).cmp(&(&a[1] * &b[0])));
        let total = |side: usize| leaves.iter().fold(Ratio::zero(), |sum, leaf| &sum + &leaf[side]);
        let (negatives, positives) = (total(0), total(1));
        let most = Ratio::written(self.given);
        let (mut left, mut above, mut area) = (&most * &negatives, Ratio::zero(), Ratio::zero());
        for [n, p] in &leaves {
            let width = n.min(&left).clone();
            if n.is_positive() {
                let rise = (&width * p).over(n);
                area = &area + &(&width * &(&(&above + &above) + &rise));
            }
            above = &above + p;
            left = &left - &width;
        }
        let whole = &(&most * &negatives) * &(&positives + &positives);
        &Ratio::from(1) - &area.over(&whole)
    }

    /// These weights with losses that are off by at most `off`: a share of all negatives by
    /// which those of any rows may be, and one of all positives.
    ///
    /// A curve that is moved by so much to the side and down is nowhere above the true one, and
    /// moved the other way nowhere below. Its heights are at most 1, so its area up to m changes by
    /// at most off[0] + m · off[1].
    pub fn rounded(self, off: [f64; 2]) -> Area {
        let most = self.most.0 as f64 / self.most.1 as f64;
        let off = (off[0] / most + off[1]) * self.units as f64;
        Area { off: self.off + off.ceil() as Cost + 1, is_rounded: true, ..self }
    }

    fn lost(&self, curve: &[Segment]) -> Cost {
        if let Some(unit) = self.whole_unit() {
            return self.units - (unit * doubled_area(curve)) as Cost;
        }
        // Lengths are counted in parts of 1/q, doubled areas in those of 1/q².
        let (p, q) = (i128::from(self.most.0), i128::from(self.most.1));
        let mut left = p * i128::from(self.totals.0);
        let (mut above, mut area) = (0, 0);
        // The last, cut segment: its width, positives and negatives.
        let mut cut = (0, 0, 1);
        for &(n, positives) in curve {
            let (n, positives) = (i128::from(n), i128::from(positives));
            let width = left.min(n * q);
            area += 2 * width * above * q;
            if n > 0 {
                // width² · positives / n, in parts of 1/q².
                if width == n * q {
                    area += width * q * positives;
                } else {
                    cut = (width, positives, n);
                }
            }
            above += positives;
            left -= width;
            if left == 0 && n > 0 {
                break;
            }
        }
        // units · area / (2q² · p/q · N · P), rounded down.
        let whole = 2 * q * p * i128::from(self.totals.0) * i128::from(self.totals.1);
        let units = i128::from(self.units);
        let counted = exact_share(units, area, cut, whole);
        self.units - counted.unwrap_or_else(|| share(units, area, cut, whole)) as Cost
    }

    /// The bound for the slopes of a curve of any size, which is stretched over all negatives.
    pub fn relax(&self, reference: &[Segment]) -> Relaxed {
        let (p, q) = (i128::from(self.most.0), i128::from(self.most.1));
        let positives = i128::from(self.totals.1);
        let room = MOST / 2 / (i128::from(self.units) + i128::from(self.leaf_cost));
        let scale = (room * p / q).clamp(1, 1 << 30);
        // An area of N · P · p is `unit` where scale · (units − loss) is counted.
        let unit = scale * i128::from(self.units) * q;
        let whole = Whole { totals: self.totals, part: self.most, unit };
        let Lines { gains, constant } = lines(reference, whole);
        let most = gains.last().map_or(0, |gain| gain.0);
        let negative = gains.iter().map(|gain| gain.1 as Cost);
        let positive = gains.iter().map(|gain| (most - gain.0) as Cost);
        Relaxed {
            scale: scale as Cost,
            costs: negative.chain(positive).collect(),
            offset: scale * i128::from(self.units) - most * positives - constant,
            most: 0,
        }
    }
}

fn check_rate(most: f64) -> Result<()> {
    if (LEAST_RATE..=1.0).contains(&most) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the largest false positive rate that counts is from {LEAST_RATE:e} to 1, and not {most:e}"
    )))
}

/// The first convergent of a number that moves losses by no more than `enough`, or else the last
/// one whose denominator is no larger than this. `None` where that is off by too much. The number
/// is meant as it is written, and is its own last convergent.
fn fraction(given: f64, denominator: i128, enough: f64) -> Option<(i64, i64)> {
    let fits = |q: i128| q <= denominator.min(i128::from(i64::MAX));
    let in_range = |(p, q): (i128, i128)| Some((i64::try_from(p).ok()?, i64::try_from(q).ok()?));
    let is_near = |found| {
        let near = |found: (i64, i64)| found.0 > 0 && off_by(given, found) <= enough;
        in_range(found).is_some_and(near)
    };
    let mut rest = Ratio::written(given);
    let (mut before, mut found) = ((0i128, 1i128), (1i128, 0i128));
    loop {
        let whole = rest.floor()?;
        let next = |a: i128, b: i128| whole.checked_mul(a)?.checked_add(b);
        let (Some(p), Some(q)) = (next(found.0, before.0), next(found.1, before.1)) else { break };
        if !fits(q) {
            break;
        }
        (before, found) = (found, (p, q));
        rest = &rest - &Ratio::from(whole);
        if rest.is_zero() || is_near(found) {
            break;
        }
        rest = Ratio::from(1).over(&rest);
    }
    let found = in_range(found)?;
    (found.0 > 0 && found.1 > 0 && off_by(given, found) <= MOST_OFF).then_some(found)
}

/// By how much losses differ at most between a part of the curve and another one.
fn off_by(given: f64, (p, q): (i64, i64)) -> f64 {
    let (exact, searched) = (Ratio::written(given), Ratio::from(p).over(&Ratio::from(q)));
    let off = (&exact - &searched).abs();
    if off.is_zero() { 0.0 } else { off.over(&exact.min(searched)).nearest().next_up() }
}

/// Weights as shares of their class, in units of 2^−bits, and by class by what the share of any
/// rows is off at most. `None` if a class weighs nothing.
pub fn shares(given: &[f64], bits: u32) -> Option<(Vec<f64>, [f64; 2])> {
    let of = |class: usize| given.iter().skip(class).step_by(2).copied();
    let totals = [0, 1].map(|class| sum(of(class)));
    if totals.iter().any(|&total| total <= 0.0) {
        return None;
    }
    let unit = (1u64 << bits) as f64;
    let whole = |(at, weight): (usize, &f64)| (weight / totals[at % 2] * unit).round();
    let weights: Vec<f64> = given.iter().enumerate().map(whole).collect();
    // Shares add up to 1 before and after: those of any rows are off by half of what all are, and
    // by what floats round.
    let off = [0, 1].map(|class| {
        let own = || weights.iter().skip(class).step_by(2).copied();
        let all = sum(own());
        let each = of(class).zip(own()).map(|(w, whole)| (w / totals[class] - whole / all).abs());
        sum(each) / 2.0 + 1e-14
    });
    Some((weights, off))
}

/// units · (area + width² · positives / n) / whole, rounded down once. `None` where it does not
/// fit.
fn exact_share(units: i128, area: i128, (width, rise, n): Cut, whole: i128) -> Option<i128> {
    let rest = width.checked_mul(width)?.checked_mul(rise)?;
    let found = area.checked_mul(n)?.checked_add(rest)?;
    Some(units.checked_mul(found)? / whole.checked_mul(n)?)
}

/// As above, for areas of many digits, rounded down in parts: no more than three units less.
fn share(units: i128, area: i128, (width, rise, n): Cut, whole: i128) -> i128 {
    let (quotient, rest) = (width * rise / n, width * rise % n);
    let found = area + quotient * width + rest * width / n;
    // So many of the last digits make the product too long.
    let digits = |x: i128| 128 - x.leading_zeros();
    let places = (digits(whole) + digits(units)).saturating_sub(ROOM);
    units * (found >> places) / ((whole >> places) + i128::from(places > 0))
}

/// The width, positives and negatives of a segment that is cut.
type Cut = (i128, i128, i128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_becomes_the_nearest_fraction_that_has_room() {
        assert_eq!(fraction(0.05, 1 << 20, 0.0), Some((1, 20)));
        assert_eq!(fraction(1.0, 1, 0.0), Some((1, 1)));
        assert_eq!(fraction(1.0 / 3.0, 1 << 20, 0.0), Some((1, 3)));
        assert_eq!(fraction(0.333, 1 << 20, 0.0), Some((333, 1000)));
        assert_eq!(fraction(0.3, 9, 0.0), None);
        assert_eq!(fraction(0.3333333, 1 << 20, 0.0), Some((1, 3)));
        assert_eq!(fraction(0.3333333, 1 << 30, 1e-11), Some((3_333_333, 10_000_000)));
        for rate in [0.1234567890123, 0.7182818284590452, 1e-7, 1.000001e-7, 0.9999999999] {
            // What the fewest digits of weights leave room for.
            let most = ((1i128 << 47) - 1).isqrt();
            let found = fraction(rate, most, 0.0).expect("there is room");
            assert!(
                i128::from(found.1) <= most && off_by(rate, found) <= 2e-7,
                "{rate}: {found:?}"
            );
        }
    }
}
