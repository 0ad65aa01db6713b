//! The area under the ROC convex hull, or under its part of low false positive rates, in integer
//! units.
//!
//! loss = 1 − (area up to `most` of the negatives) / (most · N · P). Under the whole curve all is
//! exact: a unit is 1 / (2·N·P·q), with q the denominator of λ. Under a part of it the last segment
//! is cut, which makes a fraction: losses are then rounded up to a unit of about 2⁻⁴⁰. So are those
//! of weights that are too fine for exact areas (`Area::fine`).
//!
//! The relaxation is the bound of `bounds::area`, which is additive: a leaf chooses, as a label, from
//! which slope on it counts as positive.

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

/// More digits of weights than this are not needed: what rounding then leaves of a million points
/// is less than a billionth.
const FINEST: u32 = 47;

/// The part of the curve that counts, and the units of areas.
#[derive(Debug, Clone)]
pub struct Area {
    pub totals: Segment,
    /// The largest false positive rate that counts, as a fraction; 1/1 for all.
    most: (i64, i64),
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
        let too_large = || {
            Error::invalid(
                "the weights are too large for areas to be compared exactly; round sample weights \
                 and leaf_penalty to fewer decimals",
            )
        };
        let most = decimal(most).filter(|&(p, q)| 0 < p && p <= q).ok_or_else(|| {
            Error::invalid(format!("a false positive rate of {most} is not between 0 and 1"))
        })?;
        let pairs = i128::from(totals.0) * i128::from(totals.1);
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
        // These are multiplied in `lost` and in `relax`.
        let size = pairs * 2 * i128::from(totals.0).max(i128::from(totals.1));
        let size = size.checked_mul(i128::from(most.1) * i128::from(most.1));
        let fits = size.is_some_and(|size| size < 1 << 84);
        if units > MOST || leaf_cost > MOST || !fits {
            return Err(too_large());
        }
        Ok(Area {
            totals,
            most,
            units: units as Cost,
            leaf_cost: leaf_cost as Cost,
            off,
            up: if most == (1, 1) { 0 } else { 1 },
            is_rounded: false,
        })
    }

    /// Areas under weights of up to `fine_bits` binary digits, in units of 2⁻⁴⁰, where the same
    /// part counts as here. `None` where the penalty is too large for them.
    pub fn fine(&self, totals: Segment, leaf_penalty: f64) -> Option<Area> {
        let leaf_cost = (&Ratio::written(leaf_penalty) * &Ratio::from(FINE)).floor()?;
        let leaf_cost = Cost::try_from(leaf_cost).ok().filter(|&x| i128::from(x) <= MOST)?;
        // An area and a cut segment are rounded down, and so is their share.
        Some(Area { totals, units: FINE, leaf_cost, off: 0, up: 3, is_rounded: true, ..*self })
    }

    /// The most binary digits of a class's weight that areas in parts of 1/q² have room for.
    pub fn fine_bits(&self) -> u32 {
        let denominator = 64 - self.most.1.leading_zeros();
        ((ROOM - 2 - 2 * denominator.min(ROOM / 2)) / 2).min(FINEST)
    }

    /// The largest false positive rate that counts, as a fraction.
    pub fn most(&self) -> (i64, i64) {
        self.most
    }

    pub fn scale(&self) -> Scale {
        Scale { units: self.units as f64, offset: 0, slack: self.up + self.off }
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
        let most = Ratio::from(self.most.0).over(&Ratio::from(self.most.1));
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

/// units · (area + width² · positives / n) / whole, rounded down once. `None` where it does not fit.
fn exact_share(units: i128, area: i128, (width, rise, n): Cut, whole: i128) -> Option<i128> {
    let rest = width.checked_mul(width)?.checked_mul(rise)?;
    let found = area.checked_mul(n)?.checked_add(rest)?;
    Some(units.checked_mul(found)? / whole.checked_mul(n)?)
}

/// The same for areas of many digits, rounded down in parts: no more than three units less.
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
