//! Points: groups of rows that no split can tell apart.

use std::sync::Arc;

use super::codes::Codes;
use super::columns::{Column, ColumnKind, MOST_IN_SETS, Threshold};
use crate::error::{Error, Result};

/// One code per column and point, and how many rows each point stands for.
///
/// The work of a search grows with the number of points, not of rows, so the caller groups rows
/// first. Nothing breaks if equal points are given twice; bounds only get weaker. Clones share what
/// they hold.
#[derive(Debug, Clone)]
pub struct Points {
    /// By column.
    codes: Arc<[Codes]>,
    rows: Arc<[u64]>,
}

impl Points {
    pub fn new(columns: &[Column], codes: Vec<Vec<u32>>, rows: Vec<u64>) -> Result<Self> {
        let points = Points::grouped(codes.into_iter().map(Codes::new).collect(), rows);
        points.check(columns)?;
        Ok(points)
    }

    /// Points whose columns are not known yet: `check` before a search.
    pub fn grouped(codes: Vec<Codes>, rows: Vec<u64>) -> Self {
        Points { codes: codes.into(), rows: rows.into() }
    }

    /// With the codes of these, for so many rows each.
    pub fn with_rows(&self, rows: Vec<u64>) -> Points {
        Points { codes: self.codes.clone(), rows: rows.into() }
    }

    /// Whether these are points of these columns: each code is below `columns[c].n_codes()`.
    pub fn check(&self, columns: &[Column]) -> Result<()> {
        if self.rows.is_empty() {
            return Err(Error::invalid("there are no rows"));
        }
        if self.codes.len() != columns.len() {
            return Err(Error::invalid(format!(
                "{} columns are described but {} are given",
                columns.len(),
                self.codes.len()
            )));
        }
        if u32::try_from(self.rows.len()).is_err() {
            return Err(Error::invalid("more than 2^32 distinct points"));
        }
        for (column, codes) in columns.iter().zip(self.codes.iter()) {
            check_column(column, codes, self.rows.len())?;
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn codes(&self, column: usize) -> &Codes {
        &self.codes[column]
    }

    pub fn n_columns(&self) -> usize {
        self.codes.len()
    }

    pub fn all_rows(&self) -> &[u64] {
        &self.rows
    }

    /// How many rows a point stands for.
    pub fn rows(&self, point: usize) -> u64 {
        self.rows[point]
    }
}

fn check_column(column: &Column, codes: &Codes, n_points: usize) -> Result<()> {
    if codes.len() != n_points {
        return Err(Error::invalid(format!(
            "column {:?} has {} codes for {n_points} points",
            column.name,
            codes.len()
        )));
    }
    let most = column.n_codes() as u32;
    if let Some(code) = codes.most().filter(|&code| code >= most) {
        return Err(Error::invalid(format!(
            "column {:?} has code {code}, but only {most} codes",
            column.name
        )));
    }
    if matches!(column.kind, ColumnKind::Sets(_)) && most as usize > MOST_IN_SETS {
        return Err(Error::invalid(format!(
            "column {:?} has {most} values, but sets of at most {MOST_IN_SETS} are asked for",
            column.name
        )));
    }
    if let ColumnKind::Ordered(cuts) = &column.kind {
        if cuts.iter().any(|cut| matches!(cut, Threshold::Float(t) if t.is_nan())) {
            return Err(Error::invalid(format!(
                "a cut of column {:?} is not a number",
                column.name
            )));
        }
        let ascending = cuts.windows(2).all(|pair| match (pair[0], pair[1]) {
            (Threshold::Float(a), Threshold::Float(b)) => a < b,
            (Threshold::Int(a), Threshold::Int(b)) => a < b,
            // Mixed columns are compared by the caller, who made them.
            _ => true,
        });
        if !ascending {
            return Err(Error::invalid(format!(
                "the cuts of column {:?} are not ascending",
                column.name
            )));
        }
    }
    Ok(())
}
