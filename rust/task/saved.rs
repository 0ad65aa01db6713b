//! What tasks are built from, as bytes. A task itself is code, and is built again.

use super::class_input::ClassInput;
use super::deviance::{Deviance, RateInput};
use super::feature_costs::{FeatureCostInput, FeatureCostList};
use super::impurity::Impurity;
use super::squares_input::SquaresInput;
use super::targets::TargetsInput;
use crate::error::Result;
use crate::serial::{Reader, Saved, Writer, damaged};

impl Saved for ClassInput {
    fn write(&self, out: &mut Writer) {
        let ClassInput {
            n_classes,
            n_labels,
            weights,
            costs,
            class_weights,
            balanced,
            leaf_penalty,
        } = self;
        out.size(*n_classes);
        out.size(*n_labels);
        out.floats(weights);
        out.floats(costs);
        out.floats(class_weights);
        out.flag(*balanced);
        out.float(*leaf_penalty);
    }

    fn read(from: &mut Reader) -> Result<ClassInput> {
        Ok(ClassInput {
            n_classes: from.short()? as usize,
            n_labels: from.short()? as usize,
            weights: from.floats()?,
            costs: from.floats()?,
            class_weights: from.floats()?,
            balanced: from.flag()?,
            leaf_penalty: from.float()?,
        })
    }
}

impl Saved for SquaresInput {
    fn write(&self, out: &mut Writer) {
        let SquaresInput { n_outputs, targets, weights, given, points, n_points, leaf_penalty } =
            self;
        out.size(*n_outputs);
        out.floats(targets);
        out.option(weights.as_ref(), |out, weights| {
            out.list(weights.iter(), |out, &weight| out.signed(weight));
        });
        out.option(given.as_ref(), |out, given| out.floats(given));
        out.shorts(points);
        out.size(*n_points);
        out.float(*leaf_penalty);
    }

    fn read(from: &mut Reader) -> Result<SquaresInput> {
        Ok(SquaresInput {
            n_outputs: from.short()? as usize,
            targets: from.floats()?,
            weights: from.option(|from| from.list(Reader::signed))?,
            given: from.option(Reader::floats)?,
            points: from.shorts()?,
            n_points: from.short()? as usize,
            leaf_penalty: from.float()?,
        })
    }
}

impl Saved for RateInput {
    fn write(&self, out: &mut Writer) {
        let RateInput { deviance, targets, exposures, weights, points, n_points, leaf_penalty } =
            self;
        out.byte(match deviance {
            Deviance::Poisson => 0,
            Deviance::Gamma => 1,
        });
        out.floats(targets);
        out.option(exposures.as_ref(), |out, exposures| out.floats(exposures));
        out.option(weights.as_ref(), |out, weights| out.floats(weights));
        out.shorts(points);
        out.size(*n_points);
        out.float(*leaf_penalty);
    }

    fn read(from: &mut Reader) -> Result<RateInput> {
        let deviance = match from.byte()? {
            0 => Deviance::Poisson,
            1 => Deviance::Gamma,
            _ => return Err(damaged("there is no such deviance")),
        };
        Ok(RateInput {
            deviance,
            targets: from.floats()?,
            exposures: from.option(Reader::floats)?,
            weights: from.option(Reader::floats)?,
            points: from.shorts()?,
            n_points: from.short()? as usize,
            leaf_penalty: from.float()?,
        })
    }
}

impl Saved for TargetsInput {
    fn write(&self, out: &mut Writer) {
        let TargetsInput { n_classes, weights, leaf_penalty } = self;
        out.list(n_classes.iter(), |out, &n| out.size(n));
        out.floats(weights);
        out.float(*leaf_penalty);
    }

    fn read(from: &mut Reader) -> Result<TargetsInput> {
        Ok(TargetsInput {
            n_classes: from.list(|from| Ok(from.short()? as usize))?,
            weights: from.floats()?,
            leaf_penalty: from.float()?,
        })
    }
}

impl Saved for Impurity {
    fn write(&self, out: &mut Writer) {
        out.byte(match self {
            Impurity::Gini => 0,
            Impurity::Entropy => 1,
        });
    }

    fn read(from: &mut Reader) -> Result<Impurity> {
        match from.byte()? {
            0 => Ok(Impurity::Gini),
            1 => Ok(Impurity::Entropy),
            _ => Err(damaged("there is no such impurity")),
        }
    }
}

impl Saved for FeatureCostList {
    fn write(&self, out: &mut Writer) {
        let FeatureCostList { tests, of_column } = self;
        out.list(tests.iter(), |out, test| {
            let FeatureCostInput { full, discounted, group } = test;
            out.float(*full);
            out.float(*discounted);
            out.option(*group, Writer::short);
        });
        out.list(of_column.iter(), |out, test| out.option(*test, Writer::short));
    }

    fn read(from: &mut Reader) -> Result<FeatureCostList> {
        let tests = from.list(|from| {
            let (full, discounted) = (from.float()?, from.float()?);
            Ok(FeatureCostInput { full, discounted, group: from.option(Reader::short)? })
        })?;
        Ok(FeatureCostList { tests, of_column: from.list(|from| from.option(Reader::short))? })
    }
}
