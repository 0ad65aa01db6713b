//! Additive tasks as plain data: what the registry lists of each, and one input for all of them.
//!
//! An input is columns of numbers by name. So whatever saves, compares, refuses or hands on a
//! problem knows this one type, and a new task changes none of them.

use std::collections::BTreeMap;

use super::scaled::Scaled;
use crate::error::{Error, Result};

/// A task whose costs add up over leaves, as the registry lists it.
#[derive(Debug)]
pub struct AdditiveTask {
    pub name: &'static str,
    /// What a leaf costs, in plain words.
    pub words: &'static str,
    /// The names of all columns that it may be given.
    pub columns: &'static [&'static str],
    pub build: fn(&AdditiveInput) -> Result<Scaled>,
}

/// A problem of one of these tasks.
#[derive(Debug, Clone)]
pub struct AdditiveInput {
    pub task: &'static AdditiveTask,
    /// By row, by point or by class, or a single number, as the task says.
    pub columns: BTreeMap<String, Vec<f64>>,
    /// The point of each row, for tasks that are given columns by row.
    pub points: Vec<u32>,
    pub n_points: usize,
    pub leaf_penalty: f64,
    /// Row weight by point, which pays for tests; none where nothing does.
    pub row_weights: Vec<f64>,
}

/// The largest number that a column may count: floats hold all whole numbers up to here.
const MOST_WHOLE: f64 = (1u64 << 53) as f64;

impl AdditiveInput {
    pub fn build(&self) -> Result<Scaled> {
        let AdditiveTask { name, columns, build, .. } = self.task;
        if let Some(other) = self.columns.keys().find(|other| !columns.contains(&other.as_str())) {
            let known = columns.join(", ");
            return Err(Error::invalid(format!("{name} takes {known}, and not {other}")));
        }
        let scaled = build(self)?;
        let found = scaled.task.n_points();
        if found != self.n_points {
            return Err(Error::invalid(format!(
                "{name} was given columns of {found} points, but there are {}",
                self.n_points
            )));
        }
        Ok(scaled)
    }

    /// A column that may be left out.
    pub fn optional(&self, name: &str) -> Option<&[f64]> {
        self.columns.get(name).map(Vec::as_slice)
    }

    pub fn column(&self, name: &str) -> Result<&[f64]> {
        let missing = || Error::invalid(format!("{} needs the column {name}", self.task.name));
        self.optional(name).ok_or_else(missing)
    }

    /// A column of whole numbers of at least 0.
    pub fn whole_numbers(&self, name: &str) -> Result<Vec<u64>> {
        let column = self.column(name)?;
        match column.iter().find(|x| !((0.0..=MOST_WHOLE).contains(*x) && x.fract() == 0.0)) {
            Some(other) => Err(Error::invalid(format!(
                "{name} is whole numbers of at least 0, and not {other}"
            ))),
            None => Ok(column.iter().map(|&x| x as u64).collect()),
        }
    }

    /// A column of a single whole number of at least 0.
    pub fn whole_number(&self, name: &str) -> Result<u64> {
        match self.whole_numbers(name)?[..] {
            [number] => Ok(number),
            ref many => Err(Error::invalid(format!(
                "{name} is a single number, and not {} of them",
                many.len()
            ))),
        }
    }
    /// A column of a single 1, which says yes, or a single 0.
    pub fn flag(&self, name: &str) -> Result<bool> {
        match self.whole_number(name)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Error::invalid(format!("{name} is 0 or 1, and not {other}"))),
        }
    }
}
