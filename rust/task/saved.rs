//! What tasks are built from, as bytes. A task itself is code, and is built again.

use super::additive;
use super::additive::AdditiveInput;
use super::class_input::ClassInput;
use super::feature_costs::{FeatureCostInput, FeatureCostList};
use super::row_prices::{Price, RowPrices};
use super::squares_input::SquaresInput;
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

impl Saved for AdditiveInput {
    fn write(&self, out: &mut Writer) {
        let AdditiveInput { task, columns, points, n_points, leaf_penalty, row_weights } = self;
        out.text(task.name);
        out.list(columns.iter(), |out, (name, column)| {
            out.text(name);
            out.floats(column);
        });
        out.shorts(points);
        out.size(*n_points);
        out.float(*leaf_penalty);
        out.floats(row_weights);
    }

    fn read(from: &mut Reader) -> Result<AdditiveInput> {
        Ok(AdditiveInput {
            task: additive(&from.text()?)?,
            columns: from.list(|from| Ok((from.text()?, from.floats()?)))?.into_iter().collect(),
            points: from.shorts()?,
            n_points: from.short()? as usize,
            leaf_penalty: from.float()?,
            row_weights: from.floats()?,
        })
    }
}

impl Saved for FeatureCostList {
    fn write(&self, out: &mut Writer) {
        let FeatureCostList { tests, of_column, by_row } = self;
        out.list(tests.iter(), |out, test| {
            let FeatureCostInput { full, discounted, group } = test;
            full.write(out);
            discounted.write(out);
            out.option(*group, Writer::short);
        });
        out.list(of_column.iter(), |out, test| out.option(*test, Writer::short));
        by_row.write(out);
    }

    fn read(from: &mut Reader) -> Result<FeatureCostList> {
        let tests = from.list(|from| {
            let (full, discounted) = (Price::read(from)?, Price::read(from)?);
            Ok(FeatureCostInput { full, discounted, group: from.option(Reader::short)? })
        })?;
        let of_column = from.list(|from| from.option(Reader::short))?;
        Ok(FeatureCostList { tests, of_column, by_row: RowPrices::read(from)? })
    }
}

impl Saved for Price {
    fn write(&self, out: &mut Writer) {
        match *self {
            Price::Each(cost) => {
                out.byte(0);
                out.float(cost);
            }
            Price::ByRow(list) => {
                out.byte(1);
                out.short(list);
            }
        }
    }

    fn read(from: &mut Reader) -> Result<Price> {
        match from.byte()? {
            0 => Ok(Price::Each(from.float()?)),
            1 => Ok(Price::ByRow(from.short()?)),
            _ => Err(damaged("a price is of no kind")),
        }
    }
}

impl Saved for RowPrices {
    fn write(&self, out: &mut Writer) {
        let RowPrices { n_lists, n_classes, sums } = self;
        out.short(*n_lists as u32);
        out.short(*n_classes as u32);
        out.floats(sums);
    }

    fn read(from: &mut Reader) -> Result<RowPrices> {
        let (n_lists, n_classes) = (from.short()? as usize, from.short()? as usize);
        Ok(RowPrices { n_lists, n_classes, sums: from.floats()? })
    }
}
