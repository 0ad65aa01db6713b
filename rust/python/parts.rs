//! The parts of a problem beside its goal: columns, the shape of trees, limits of a run,
//! constraints, and what features cost.

use std::time::Duration;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple};

use crate::data::{Column, ColumnKind, Threshold};
use crate::ids::ColumnId;
use crate::pareto::{LimitInput, Term};
use crate::posed::{self, ConstraintInput, Counted};
use crate::run;
use crate::task::{FeatureCostInput, FeatureCostList, Price, RowPrices};

/// Limits on trees, by their names in the core: `None` is no limit.
#[pyclass(frozen, module = "certree._core", name = "Shape")]
pub(super) struct Shape {
    pub(super) shape: crate::problem::Shape,
}

#[pymethods]
impl Shape {
    #[new]
    #[pyo3(signature = (**limits))]
    fn new(limits: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut shape = crate::problem::Shape::default();
        for (name, number) in limits.into_iter().flatten() {
            shape.set(&name.extract::<String>()?, number.extract()?)?;
        }
        Ok(Shape { shape })
    }
}

/// How far a run may go: seconds, bytes, the gap to stop at, and threads. `None` is no limit.
/// `held`: bytes of the limit that are taken when it begins. `all_sizes`: whether trees of fewer
/// leaves will be asked for, too.
#[pyclass(frozen, module = "certree._core", name = "Limits")]
pub(super) struct Limits {
    pub(super) limits: run::Limits,
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (time=None, memory=None, gap=0.0, threads=1, held=0, all_sizes=false))]
    fn new(
        time: Option<f64>,
        memory: Option<u64>,
        gap: f64,
        threads: usize,
        held: u64,
        all_sizes: bool,
    ) -> PyResult<Self> {
        let time = time.map(seconds).transpose()?;
        Ok(Limits { limits: run::Limits { time, memory, held, gap, threads, all_sizes } })
    }
}

pub(super) fn seconds(given: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(given)
        .map_err(|error| PyValueError::new_err(format!("time limit: {error}")))
}

/// A limit on a sum of terms, each (counts, of, factor): the weight of the classes in `counts` that
/// get the labels there, divided by that of the classes in `of`, if there are some, times `factor`.
#[pyclass(frozen, from_py_object, module = "certree._core", name = "LinearLimit")]
#[derive(Clone)]
pub(super) struct LinearLimit {
    pub(super) input: LimitInput,
}

/// As Python gives it.
type GivenTerm = (Vec<(u32, u32)>, Vec<u32>, f64);

#[pymethods]
impl LinearLimit {
    /// Classes are those of the goal, or groups of rows. `is_strict`: whether `least` and `most`
    /// themselves are excluded.
    #[new]
    #[pyo3(signature = (name, terms, least, most, is_strict=false))]
    fn new(name: String, terms: Vec<GivenTerm>, least: f64, most: f64, is_strict: bool) -> Self {
        let term = |(counts, of, factor)| Term { counts, of, factor };
        let terms = terms.into_iter().map(term).collect();
        LinearLimit { input: LimitInput { name, terms, least, most, is_strict } }
    }
}

/// Limits on sums over rows. They count classes, which are cut into groups (`class_of` then gives
/// the user's class of each; classes beyond cost nothing), or row weights by point and group.
#[pyclass(frozen, module = "certree._core", name = "Constraints")]
pub(super) struct Constraints {
    pub(super) input: ConstraintInput,
}

#[pymethods]
impl Constraints {
    #[new]
    #[pyo3(signature = (limits, class_of=None, weights=None))]
    fn new(
        limits: Vec<LinearLimit>,
        class_of: Option<Vec<u32>>,
        weights: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<Self> {
        let counted = match (class_of, weights) {
            (Some(class_of), None) => Counted::Classes { class_of },
            (None, Some(weights)) => {
                let (n_groups, weights) = (weights.shape()[1], weights.as_slice()?.to_vec());
                Counted::Groups { n_groups, weights }
            }
            _ => return Err(PyValueError::new_err("constraints count classes or groups of rows")),
        };
        let limits = limits.into_iter().map(|limit| limit.input).collect();
        Ok(Constraints { input: ConstraintInput { limits, counted } })
    }
}

/// A price: a cost, or the number of a list of prices by row.
type PriceParts = (f64, Option<u32>);

/// By test: its cost, its discounted cost, and its group; by column: its test; and by point, class
/// and list of prices by row, what the rows pay together.
#[pyclass(frozen, module = "certree._core", name = "FeatureCosts")]
pub(super) struct FeatureCosts {
    pub(super) input: FeatureCostList,
}

#[pymethods]
impl FeatureCosts {
    #[new]
    #[pyo3(signature = (tests, test_of, sums=None))]
    fn new(
        tests: Vec<(PriceParts, PriceParts, Option<u32>)>,
        test_of: Vec<Option<u32>>,
        sums: Option<PyReadonlyArray3<'_, f64>>,
    ) -> PyResult<Self> {
        let price = |(cost, list): PriceParts| list.map_or(Price::Each(cost), Price::ByRow);
        let test = |(full, discounted, group)| FeatureCostInput {
            full: price(full),
            discounted: price(discounted),
            group,
        };
        let tests = tests.into_iter().map(test).collect();
        let by_row = match sums {
            Some(sums) => RowPrices {
                n_classes: sums.shape()[1],
                n_lists: sums.shape()[2],
                sums: sums.as_slice()?.to_vec(),
            },
            None => RowPrices::default(),
        };
        Ok(FeatureCosts { input: FeatureCostList { tests, of_column: test_of, by_row } })
    }
}

/// What the columns of every path keep to, by their numbers.
#[pyclass(frozen, from_py_object, module = "certree._core", name = "PathRule")]
#[derive(Clone)]
pub(super) struct PathRule {
    pub(super) rule: posed::PathRule,
}

#[pymethods]
impl PathRule {
    /// There are at most so many different ones.
    #[staticmethod]
    fn most_columns(most: u32) -> Self {
        PathRule { rule: posed::PathRule::MostColumns(most) }
    }

    /// The column is asked only below splits on all of the others.
    #[staticmethod]
    fn after(column: u32, above: Vec<u32>) -> Self {
        let (column, above) = (ColumnId(column), ids(above));
        PathRule { rule: posed::PathRule::After { column, above } }
    }

    /// Those that are in some group are all in one group.
    #[staticmethod]
    fn apart(groups: Vec<Vec<u32>>) -> Self {
        PathRule { rule: posed::PathRule::Apart(groups.into_iter().map(ids).collect()) }
    }

    /// The first one is this.
    #[staticmethod]
    fn first_column(column: u32) -> Self {
        PathRule { rule: posed::PathRule::FirstColumn(ColumnId(column)) }
    }
}

fn ids(columns: Vec<u32>) -> Vec<ColumnId> {
    columns.into_iter().map(ColumnId).collect()
}

/// Columns, and those that may be asked only below another: each, and that one.
type Columns = (Vec<Column>, Vec<(ColumnId, ColumnId)>);

/// By column: its name and kind; if there are more, whether values are missing; and if there are
/// more, the column that must be asked above it, or None.
pub(super) fn read_columns(columns: Vec<Bound<'_, PyTuple>>) -> PyResult<Columns> {
    let (mut read, mut after) = (Vec::with_capacity(columns.len()), Vec::new());
    for (index, parts) in columns.iter().enumerate() {
        let (name, kind) = parts.get_slice(0, 2).extract::<(String, Bound<'_, PyAny>)>()?;
        let missing = parts.len() > 2 && parts.get_item(2)?.extract()?;
        let above: Option<u32> = if parts.len() > 3 { parts.get_item(3)?.extract()? } else { None };
        read.push(Column { name, kind: read_kind(&kind)?, missing });
        after.extend(above.map(|above| (ColumnId::from(index), ColumnId(above))));
    }
    Ok((read, after))
}

/// None: Boolean. A list of strings: a category's values. A tuple of them: any set of these may be
/// asked for. A list of numbers, or an array of floats: cuts.
fn read_kind(kind: &Bound<'_, PyAny>) -> PyResult<ColumnKind> {
    if kind.is_none() {
        return Ok(ColumnKind::Boolean);
    }
    if let Ok(cuts) = kind.cast::<PyArray1<f64>>() {
        let cuts = cuts.readonly();
        let cuts = cuts.as_slice()?.iter().map(|&cut| Threshold::Float(cut)).collect();
        return Ok(ColumnKind::Ordered(cuts));
    }
    if kind.is_instance_of::<PyTuple>() {
        return Ok(ColumnKind::Sets(kind.extract()?));
    }
    let first = kind.try_iter()?.next().transpose()?;
    match first {
        Some(first) if first.is_instance_of::<PyString>() => {
            Ok(ColumnKind::Category(kind.extract()?))
        }
        _ => {
            let cuts = kind
                .try_iter()?
                .map(|cut| {
                    let cut = cut?;
                    Ok(if cut.is_instance_of::<PyInt>() {
                        Threshold::Int(cut.extract()?)
                    } else {
                        Threshold::Float(cut.extract()?)
                    })
                })
                .collect::<PyResult<_>>()?;
            Ok(ColumnKind::Ordered(cuts))
        }
    }
}
