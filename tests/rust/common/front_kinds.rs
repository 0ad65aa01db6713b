//! Partly ordered tasks of several kinds, on random statistics, and relaxations for them.

use certree::cost::{Cost, Scale, lcm};
use certree::task::{ClassInput, FrontTask, Labelled, Leaf, RowCosts, Scaled, Structure, Task};

use super::Random;

pub const UNIT: Scale = Scale::new(1.0, 0, 0);

/// The kinds of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Statistics: rows by group and class. Values: errors by group. Cost: the largest error rate.
    GroupErrors,
    /// Statistics: rows by class. Values: false positives and false negatives. Cost: FP · FN + FP +
    /// 2 · FN.
    TwoErrors,
    /// Statistics: the loss of each of three labels, and a mass. Values: loss, and mass times
    /// label, which must not exceed a cap. Cost: the loss.
    Capped,
    /// Statistics: a number with a sign, and 1. Values: the largest |sum| of a leaf, and their
    /// total. A leaf needs two points. Cost: both together.
    Spread,
}

pub const KINDS: [Kind; 4] = [Kind::GroupErrors, Kind::TwoErrors, Kind::Capped, Kind::Spread];

/// How a cost in the task's unit and one in the relaxation's unit go together.
#[derive(Debug, Clone, Copy)]
pub enum Conversion {
    Same,
    /// cost · `up` ≥ Σ errors · `down`.
    Ratio {
        up: Cost,
        down: Cost,
    },
    /// As `Ratio`, and the relaxation costs at most `times` · errors − `off`, by point within 1.
    Real {
        up: Cost,
        down: Cost,
        times: f64,
        off: f64,
        slack: f64,
    },
}

#[derive(Debug, Clone)]
pub struct Made {
    pub kind: Kind,
    pub width: usize,
    pub stats: Vec<i64>,
    /// For `GroupErrors`: what an error in each group costs, and the least common multiple of their
    /// rows.
    pub rates: Vec<Cost>,
    pub common: Cost,
    pub cap: i64,
    pub conversion: Conversion,
    /// True if `bound` says more than the relaxation's best answer.
    pub bounds_by_label: bool,
}

pub type Value = Vec<i64>;

impl Made {
    pub fn random(kind: Kind, n: usize, rng: &mut Random) -> Made {
        let groups = rng.range(1, 3);
        let width = match kind {
            Kind::GroupErrors => 2 * groups,
            Kind::TwoErrors | Kind::Spread => 2,
            Kind::Capped => 4,
        };
        let most = rng.pick(&[1, 2, 9, 1000]);
        let mut stats: Vec<i64> = Vec::new();
        for _ in 0..n {
            let mut number = || if rng.chance(0.3) { 0 } else { rng.below(most + 1) as i64 };
            match kind {
                Kind::Spread => stats.extend([number() - number(), 1]),
                _ => stats.extend((0..width).map(|_| number())),
            }
        }
        let total = |s: usize| stats.iter().skip(s).step_by(width).sum::<i64>();
        let rows: Vec<i64> =
            (0..width / 2).map(|g| (total(2 * g) + total(2 * g + 1)).max(1)).collect();
        let common = rows.iter().fold(1, |common, &n| lcm(common, n).unwrap());
        let cap = match kind {
            Kind::Capped => (2 * total(3)) * rng.range(0, 4) as i64 / 4,
            _ => 0,
        };
        Made {
            kind,
            width,
            rates: rows.iter().map(|n| common / n).collect(),
            common,
            cap,
            conversion: Conversion::Same,
            bounds_by_label: false,
            stats,
        }
    }

    pub fn total(&self) -> i64 {
        self.stats.iter().map(|s| s.abs()).sum()
    }

    /// Errors, or losses, of each label.
    fn losses(&self, sums: &[i64]) -> Vec<Cost> {
        match self.kind {
            Kind::GroupErrors => {
                let wrong = |label: usize| sums.iter().skip(1 - label).step_by(2).sum();
                vec![wrong(0), wrong(1)]
            }
            Kind::TwoErrors => vec![sums[1], sums[0]],
            Kind::Capped => sums[..3].to_vec(),
            Kind::Spread => vec![sums[0].abs()],
        }
    }

    /// A relaxation, if there is one of this number.
    pub fn relaxation(&mut self, which: usize, rng: &mut Random) -> Option<Scaled> {
        if self.kind == Kind::Spread {
            return None;
        }
        let (up, down) = match self.kind {
            // The largest rate is at least that of all rows.
            Kind::GroupErrors => {
                (self.rates.iter().map(|rate| self.common / rate).sum(), self.common)
            }
            _ => (1, 1),
        };
        self.conversion = Conversion::Ratio { up, down };
        self.bounds_by_label = rng.chance(0.5);
        let n = self.n_points();
        let by_point: Vec<Cost> = (0..n).flat_map(|point| self.losses(self.stats(point))).collect();
        let n_labels = by_point.len() / n;
        let boxed = |task: Box<dyn Task>| {
            Some(Scaled { task, leaf_cost: 0, scale: UNIT, feature_costs: None, stated: None })
        };
        match which {
            // Classes: the weight that a point has in every class is an error under any label.
            0 if self.kind != Kind::Capped => {
                self.bounds_by_label = false;
                let classes = self.width;
                let input = ClassInput {
                    n_classes: classes,
                    n_labels: 2,
                    weights: self.stats.iter().map(|&s| s as f64).collect(),
                    costs: (0..classes)
                        .flat_map(|c| [(c % 2) as f64, (1 - c % 2) as f64])
                        .collect(),
                    class_weights: vec![1.0; classes],
                    balanced: false,
                    leaf_penalty: 0.0,
                };
                let scaled = input.build().ok()?;
                let units = scaled.scale.units as Cost;
                // Weights may have become smaller by a common divisor.
                let rows: i64 = self.stats.iter().sum();
                let factor = rows / units.max(1);
                let Conversion::Ratio { up, down } = self.conversion else { unreachable!() };
                self.conversion = Conversion::Ratio { up, down: down * factor.max(1) };
                (units > 0 && factor * units == rows).then_some(scaled)
            }
            1 => {
                self.bounds_by_label = false;
                let costs: Vec<f64> = by_point.iter().map(|&loss| loss as f64).collect();
                // All points as one leaf may cost no more than 2^58 divided by their number, so
                // that units must not be as fine as the costs alone would allow: a tenth of that.
                let normalizer = 1e4 * costs.iter().sum::<f64>().max(1.0);
                let scaled = RowCosts::build(n_labels, &costs, normalizer, 0.0, None).ok()?;
                let off = scaled.scale.offset as f64;
                let times = scaled.scale.units / normalizer;
                let slack = scaled.scale.slack as f64;
                self.conversion = Conversion::Real { up, down, times, off, slack };
                Some(scaled)
            }
            2 => boxed(Box::new(ByLabel { n_labels, losses: by_point })),
            3 => boxed(Box::new(Least::new(self.clone(), Structured::Sums, rng.chance(0.5)))),
            4 if self.stats.iter().all(|&s| s >= 0) => {
                boxed(Box::new(Least::new(self.clone(), Structured::Counts, rng.chance(0.5))))
            }
            _ => None,
        }
    }
}

impl FrontTask for Made {
    type Value = Value;

    fn n_points(&self) -> usize {
        self.stats.len() / self.width
    }

    fn width(&self) -> usize {
        self.width
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.stats[point * self.width..][..self.width]
    }

    fn leaf(&self, sums: &[i64], push: &mut dyn FnMut(u32, Value)) {
        match self.kind {
            Kind::GroupErrors => {
                for label in 0..2 {
                    push(label, sums.iter().skip(1 - label as usize).step_by(2).copied().collect());
                }
            }
            Kind::TwoErrors => {
                push(0, vec![0, sums[1]]);
                push(1, vec![sums[0], 0]);
            }
            Kind::Capped => {
                for label in [2, 0, 1] {
                    push(label, vec![sums[label as usize], i64::from(label) * sums[3]]);
                }
            }
            Kind::Spread if sums[1] >= 2 => push(7, vec![sums[0].abs(), sums[0].abs()]),
            Kind::Spread => {}
        }
    }

    fn join(&self, a: &Value, b: &Value) -> Value {
        match self.kind {
            Kind::Spread => vec![a[0].max(b[0]), a[1] + b[1]],
            _ => a.iter().zip(b).map(|(a, b)| a + b).collect(),
        }
    }

    fn no_worse(&self, a: &Value, b: &Value) -> bool {
        a.iter().zip(b).all(|(a, b)| a <= b)
    }

    fn cost(&self, value: &Value) -> Option<Cost> {
        Some(match self.kind {
            Kind::GroupErrors => {
                value.iter().zip(&self.rates).map(|(errors, rate)| errors * rate).max()?
            }
            Kind::TwoErrors => value[0] * value[1] + value[0] + 2 * value[1],
            Kind::Capped => value[0],
            Kind::Spread => 3 * value[0] + value[1],
        })
    }

    fn feasible(&self, value: &Value) -> bool {
        self.kind != Kind::Capped || value[1] <= self.cap
    }

    fn bound(&self, sums: &[i64], label: u32, _value: &Value) -> Option<Cost> {
        self.bounds_by_label.then(|| self.losses(sums)[label as usize])
    }

    fn budget(&self, upper: Cost) -> Cost {
        match self.conversion {
            Conversion::Same => upper - 1,
            Conversion::Ratio { up, down } => (upper - 1) * up / down,
            Conversion::Real { up, down, times, off, slack } => {
                let errors = ((upper - 1) * up / down) as f64;
                (errors * times - off + 2.0 * slack).ceil() as Cost
            }
        }
    }

    fn at_least(&self, bound: Cost) -> Cost {
        match self.conversion {
            Conversion::Same => bound,
            Conversion::Ratio { up, down } => (bound * down + up - 1).div_euclid(up).max(0),
            Conversion::Real { up, down, times, off, slack } => {
                let errors = ((bound as f64 + off - 2.0 * slack) / times - 1e-6).ceil().max(0.0);
                (errors as Cost * down + up - 1) / up
            }
        }
    }

    fn value_bytes(&self, value: &Value) -> usize {
        8 * value.capacity()
    }
}

/// Whole losses by row and label.
struct ByLabel {
    n_labels: usize,
    losses: Vec<Cost>,
}

impl Task for ByLabel {
    fn n_points(&self) -> usize {
        self.losses.len() / self.n_labels
    }

    fn width(&self) -> usize {
        self.n_labels
    }

    fn stats(&self, point: usize) -> &[i64] {
        &self.losses[point * self.n_labels..][..self.n_labels]
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        let (label, &cost) = stats.iter().enumerate().min_by_key(|(_, cost)| **cost).unwrap();
        Leaf { cost, label: label as u32 }
    }

    fn shown(&self, _points: &[u32], _stats: &[i64]) -> Vec<f64> {
        Vec::new()
    }

    fn worst(&self, point: usize) -> Option<Cost> {
        self.stats(point).iter().copied().max()
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Labels(self)
    }
}

impl Labelled for ByLabel {
    fn n_labels(&self) -> usize {
        self.n_labels
    }

    fn loss(&self, point: usize, label: u32) -> Cost {
        self.stats(point)[label as usize]
    }
}

#[derive(Clone, Copy)]
enum Structured {
    Sums,
    Counts,
}

/// The least loss of all labels, or, rounded, half the harmonic mean of the least and all.
struct Least {
    of: Made,
    structured: Structured,
    rounded: bool,
}

impl Least {
    fn new(of: Made, structured: Structured, rounded: bool) -> Least {
        Least { of, structured, rounded }
    }
}

impl Task for Least {
    fn n_points(&self) -> usize {
        self.of.n_points()
    }

    fn width(&self) -> usize {
        self.of.width
    }

    fn stats(&self, point: usize) -> &[i64] {
        FrontTask::stats(&self.of, point)
    }

    fn leaf(&self, stats: &[i64]) -> Leaf {
        let losses = self.of.losses(stats);
        let cost = match self.rounded {
            false => *losses.iter().min().unwrap(),
            true => {
                let (a, b) = (losses[0], losses[1]);
                let least = if a + b > 0 { a * b / (a + b) } else { 0 };
                // A third label may be cheaper than both.
                if losses.len() > 2 { 0 } else { least }
            }
        };
        Leaf { cost, label: 0 }
    }

    fn rounding(&self) -> Cost {
        Cost::from(self.rounded)
    }

    fn shown(&self, _points: &[u32], _stats: &[i64]) -> Vec<f64> {
        Vec::new()
    }

    fn structure(&self) -> Structure<'_> {
        match self.structured {
            Structured::Sums => Structure::Sums,
            Structured::Counts => Structure::Counts,
        }
    }
}
