//! A digest of a whole problem: what was saved of a search of one problem says nothing of another.

use super::{Problem, Shape};
use crate::serial::{Saved, Writer};
use crate::task::{FeatureCost, FeatureCosts, Structure};

/// Unions of points that are costed.
const MOST_UNIONS: usize = 1000;

impl Problem {
    /// Differs between problems that differ in anything that a search depends on, and is the same
    /// on every machine. What a task does is code, so that its leaf costs are asked for: those of
    /// all points, and of many unions.
    pub fn digest(&self) -> u128 {
        Writer::digest(|out| {
            let Problem { columns, points, shape, leaf_cost, rounding, scale, .. } = self;
            out.list(columns.iter(), |out, column| column.write(out));
            points.write(out);
            Shape::write(shape, out);
            out.signed(*leaf_cost);
            out.signed(*rounding);
            out.float(scale.units);
            out.wide_signed(scale.offset);
            out.signed(scale.slack);
            self.write_task(out);
            out.option(self.feature_costs.as_ref(), write_feature_costs);
            // Contexts are small, and their debug form says all that they hold.
            out.option(self.context.as_ref(), |out, context| out.text(&format!("{context:?}")));
        })
    }

    fn write_task(&self, out: &mut Writer) {
        let (task, n) = (self.task.as_ref(), self.points.len());
        out.byte(match task.structure() {
            Structure::Sums => 0,
            Structure::Counts => 1,
            Structure::Labels(_) => 2,
            Structure::Classes(_) => 3,
            Structure::Squares(_) => 4,
        });
        out.size(task.structure().n_labels());
        out.size(task.width());
        out.signed(task.rounding());
        for point in 0..n {
            task.stats(point).iter().for_each(|&s| out.signed(s));
            out.signed(task.least(point));
            out.option(task.worst(point), Writer::signed);
        }
        // Points that are far apart, joined one after the other.
        let step = (n / MOST_UNIONS).max(1);
        let mut sum = vec![0; task.width()];
        for point in (0..n).step_by(step) {
            sum.iter_mut().zip(task.stats(point)).for_each(|(sum, s)| *sum += s);
            let leaf = task.leaf(&sum);
            out.signed(leaf.cost);
            out.short(leaf.label);
        }
    }
}

fn write_feature_costs(out: &mut Writer, costs: &FeatureCosts) {
    let FeatureCosts { tests, of_column, masses, n_masses, is_ordered, of_class } = costs;
    out.size(*n_masses);
    out.flag(*is_ordered);
    out.list(tests.iter(), |out, test| {
        let FeatureCost { full, discounted, group } = test;
        out.signed(*full);
        out.signed(*discounted);
        out.option(*group, Writer::short);
    });
    out.list(of_column.iter(), |out, test| out.option(*test, Writer::short));
    for masses in [masses, of_class] {
        out.list(masses.iter(), |out, &mass| out.signed(mass));
    }
}
