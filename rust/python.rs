//! The narrow door to Python: the only file that imports PyO3. It releases the GIL while a search
//! runs, polls for Ctrl-C, and maps errors. No decision about trees is made here.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use numpy::{
    PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};

use crate::data::{
    Codes, Column, ColumnKind, Digit, Points, Ranked, Threshold, group, rank_row_major,
};
use crate::error::Error;
use crate::ids::{ColumnId, TreeNodeId};
use crate::problem::{Problem, Shape};
use crate::run::{Limits, Progress, Pulse, Run};
use crate::task::{ClassInput, RowCosts, Scaled};
use crate::tree::{Node, Router, Split, Test, Values};

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        match error {
            Error::Invalid(_) => PyValueError::new_err(error.to_string()),
            Error::Mismatch { .. } | Error::Failed(_) => PyRuntimeError::new_err(error.to_string()),
        }
    }
}

/// A finished tree: tests on columns by index, and what each node holds.
#[pyclass(frozen, module = "certree._core", name = "Tree")]
struct PyTree {
    tree: crate::tree::Tree,
}

type NodeParts = (Option<Py<PyTuple>>, u32, u64, Vec<f64>, f64);
/// The arguments of `Tree(parts)`: one, a list.
type AllParts<'py> = (Vec<Bound<'py, PyTuple>>,);

#[pymethods]
impl PyTree {
    /// Build from `parts()`: (split or None, label, rows, value, loss) for each node in preorder.
    #[new]
    fn new(py: Python<'_>, parts: Vec<NodeParts>) -> PyResult<Self> {
        let mut nodes = Vec::with_capacity(parts.len());
        let n = parts.len();
        for (index, (split, label, rows, value, loss)) in parts.into_iter().enumerate() {
            let split = match split {
                None => None,
                Some(split) => Some(read_split(split.bind(py), index, n)?),
            };
            nodes.push(Node { split, label, rows, value, loss });
        }
        if nodes.is_empty() {
            return Err(PyValueError::new_err("a tree has at least one node"));
        }
        Ok(PyTree { tree: crate::tree::Tree { nodes } })
    }

    /// The nodes in preorder: (split or None, label, rows, value, loss), where a split is
    /// (column, test, left, right) and a test is True, a string ("is value") or a threshold.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        (self.tree.nodes.iter())
            .map(|node| {
                let split = match &node.split {
                    None => None,
                    Some(split) => Some(write_split(py, split)?),
                };
                (split, node.label, node.rows, node.value.clone(), node.loss).into_pyobject(py)
            })
            .collect()
    }

    /// The leaf each row ends in. `slots[node]` says which array a node's test reads.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        slots: Vec<usize>,
        arrays: Vec<Bound<'py, PyAny>>,
        n_rows: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let columns: Vec<Held<'py>> = arrays.iter().map(Held::new).collect::<PyResult<_>>()?;
        let values: Vec<Values<'_>> = columns.iter().map(Held::values).collect::<PyResult<_>>()?;
        let router = Router::new(&self.tree, &slots);
        let leaves = py.detach(|| router.apply(&values, n_rows))?;
        Ok(PyArray1::from_vec(py, leaves))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, AllParts<'py>)> {
        Ok((py.get_type::<PyTree>().into_any().unbind(), (self.parts(py)?,)))
    }
}

fn write_split<'py>(py: Python<'py>, split: &Split) -> PyResult<Bound<'py, PyTuple>> {
    let test = match &split.test {
        Test::IsTrue => PyBool::new(py, true).to_owned().into_any(),
        Test::Is(value) => PyString::new(py, value).into_any(),
        Test::AtMost(Threshold::Float(t)) => PyFloat::new(py, *t).into_any(),
        Test::AtMost(Threshold::Int(t)) => t.into_pyobject(py)?.into_any(),
    };
    (split.column.0, test, split.left.0, split.right.0).into_pyobject(py)
}

fn read_split(split: &Bound<'_, PyTuple>, index: usize, n_nodes: usize) -> PyResult<Split> {
    let (column, test, left, right): (u32, Bound<'_, PyAny>, u32, u32) = split.extract()?;
    let test = if test.is_instance_of::<PyBool>() {
        Test::IsTrue
    } else if test.is_instance_of::<PyString>() {
        Test::Is(test.extract()?)
    } else if test.is_instance_of::<PyInt>() {
        Test::AtMost(Threshold::Int(test.extract()?))
    } else {
        Test::AtMost(Threshold::Float(test.extract()?))
    };
    // Children after their parent: no cycles, so every row ends in a leaf.
    for child in [left, right] {
        if child as usize <= index || child as usize >= n_nodes {
            return Err(PyValueError::new_err(format!(
                "node {index} has child {child}, which is not a later node"
            )));
        }
    }
    Ok(Split { column: ColumnId(column), test, left: TreeNodeId(left), right: TreeNodeId(right) })
}

/// A borrowed numpy array of one of the types that are read here, in one piece.
enum Held<'py> {
    F64(PyReadonlyArrayDyn<'py, f64>),
    F32(PyReadonlyArrayDyn<'py, f32>),
    I64(PyReadonlyArrayDyn<'py, i64>),
    I32(PyReadonlyArrayDyn<'py, i32>),
    I16(PyReadonlyArrayDyn<'py, i16>),
    I8(PyReadonlyArrayDyn<'py, i8>),
    U64(PyReadonlyArrayDyn<'py, u64>),
    U32(PyReadonlyArrayDyn<'py, u32>),
    U16(PyReadonlyArrayDyn<'py, u16>),
    U8(PyReadonlyArrayDyn<'py, u8>),
    Bool(PyReadonlyArrayDyn<'py, bool>),
}

macro_rules! each_type {
    ($macro:ident) => {
        $macro! {
            Bool bool, F64 f64, F32 f32, I64 i64, I32 i32, I16 i16, I8 i8, U64 u64, U32 u32,
            U16 u16, U8 u8
        }
    };
}

impl<'py> Held<'py> {
    fn new(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        macro_rules! read {
            ($($kind:ident $type:ty),*) => {
                $(if let Ok(array) = array.cast::<PyArrayDyn<$type>>() {
                    return Ok(Held::$kind(array.readonly()));
                })*
            };
        }
        each_type!(read);
        Err(PyValueError::new_err("values must be a numpy array of numbers or Booleans"))
    }

    /// The values as they lie in memory.
    fn values(&self) -> PyResult<Values<'_>> {
        macro_rules! view {
            ($($kind:ident $type:ty),*) => {
                match self {
                    $(Held::$kind(array) => Values::$kind(array.as_slice()?),)*
                }
            };
        }
        Ok(each_type!(view))
    }

    /// Columns, and whether a row lies in one piece.
    fn layout(&self) -> PyResult<(usize, bool)> {
        macro_rules! view {
            ($($kind:ident $type:ty),*) => {
                match self {
                    $(Held::$kind(array) => (array.shape(), array.is_fortran_contiguous()),)*
                }
            };
        }
        match each_type!(view) {
            ([_], _) => Ok((1, false)),
            (&[_, n_columns], by_column) => Ok((n_columns, !by_column)),
            _ => Err(PyValueError::new_err("values must have one or two dimensions")),
        }
    }
}

/// Columns in memory, each value replaced by its rank.
#[pyclass(frozen, module = "certree._core", name = "Table")]
struct PyTable {
    columns: Vec<(Ranked, Type)>,
}

macro_rules! types {
    ($($kind:ident $type:ty),*) => {
        /// What a column was before it was ranked.
        #[derive(Clone, Copy)]
        enum Type { $($kind),* }
    };
}
each_type!(types);

fn rank(values: &Values<'_>, n_columns: usize, row_major: bool) -> Vec<(Ranked, Type)> {
    macro_rules! rank {
        ($($kind:ident $type:ty),*) => {
            match values {
                $(Values::$kind(values) => {
                    let found = if row_major {
                        rank_row_major(values, n_columns)
                    } else {
                        let n_rows = (values.len() / n_columns.max(1)).max(1);
                        values.chunks_exact(n_rows).map(Ranked::of).collect()
                    };
                    found.into_iter().map(|ranked| (ranked, Type::$kind)).collect()
                })*
            }
        };
    }
    each_type!(rank)
}

#[pymethods]
impl PyTable {
    /// From arrays of one column, or of several: rows × columns.
    #[new]
    fn new(py: Python<'_>, arrays: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let held: Vec<Held<'_>> = arrays.iter().map(Held::new).collect::<PyResult<_>>()?;
        let parts = (held.iter())
            .map(|held| Ok((held.values()?, held.layout()?)))
            .collect::<PyResult<Vec<_>>>()?;
        let columns = py.detach(|| {
            let ranked = |(values, (n, row_major)): &(Values<'_>, _)| rank(values, *n, *row_major);
            parts.iter().flat_map(ranked).collect()
        });
        Ok(PyTable { columns })
    }

    /// The distinct values of a column, ascending. Zeros have no sign; Booleans are both there.
    fn values<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyAny>> {
        let (ranked, kind) = self.column(column)?;
        macro_rules! values {
            ($($kind:ident $type:ty),*) => {
                match kind {
                    $(Type::$kind => PyArray1::from_vec(py, ranked.values::<$type>()).into_any(),)*
                }
            };
        }
        Ok(each_type!(values))
    }

    /// The weight of the rows that hold each distinct value; how many they are, without weights.
    #[pyo3(signature = (column, weights=None))]
    fn amounts<'py>(
        &self,
        py: Python<'py>,
        column: usize,
        weights: Option<PyReadonlyArray1<'py, i64>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let amounts = self.column(column)?.0.amounts(weights)?;
        Ok(PyArray1::from_vec(py, amounts))
    }

    /// Rows with the same codes become one point: the points in the order of their codes, first column
    /// first, and their weight by class (point-major). `codes` gives for each column the code of each
    /// rank, or None where ranks are the codes.
    #[pyo3(signature = (codes, n_codes, classes, n_classes, weights=None))]
    fn group<'py>(
        &self,
        py: Python<'py>,
        codes: Vec<Option<PyReadonlyArray1<'py, u32>>>,
        n_codes: Vec<usize>,
        classes: PyReadonlyArray1<'py, u32>,
        n_classes: usize,
        weights: Option<PyReadonlyArray1<'py, i64>>,
    ) -> PyResult<(PyPoints, Bound<'py, PyArray1<i64>>)> {
        if [codes.len(), n_codes.len()] != [self.columns.len(); 2] {
            return Err(PyValueError::new_err("codes are not given for all columns"));
        }
        let code_of = (codes.iter())
            .map(|codes| codes.as_ref().map(|codes| codes.as_slice()).transpose())
            .collect::<Result<Vec<_>, _>>()?;
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let classes = classes.as_slice()?;
        let grouped = py.detach(|| {
            let digits: Vec<Digit<'_>> = (self.columns.iter().zip(code_of).zip(n_codes))
                .map(|(((ranked, _), code_of), n_codes)| Digit {
                    ranks: &ranked.ranks,
                    code_of,
                    n_codes,
                })
                .collect();
            group(&digits, classes, n_classes, weights)
        })?;
        let weights = PyArray1::from_vec(py, grouped.weights);
        Ok((PyPoints { points: grouped.points }, weights))
    }
}

impl PyTable {
    fn column(&self, index: usize) -> PyResult<&(Ranked, Type)> {
        self.columns.get(index).ok_or_else(|| PyValueError::new_err("there is no such column"))
    }
}

/// Groups of rows that no split can tell apart: a code for each column, and how many rows.
#[pyclass(frozen, module = "certree._core", name = "Points")]
struct PyPoints {
    points: Points,
}

#[pymethods]
impl PyPoints {
    #[new]
    fn new(
        codes: Vec<PyReadonlyArray1<'_, u32>>,
        rows: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<Self> {
        let codes =
            (codes.iter()).map(|codes| Ok(Codes::new(codes.to_vec()?))).collect::<PyResult<_>>()?;
        Ok(PyPoints { points: Points::grouped(codes, rows.to_vec()?) })
    }

    /// One array for each column.
    #[getter]
    fn codes<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyArray1<u32>>> {
        (0..self.points.n_columns())
            .map(|column| PyArray1::from_iter(py, self.points.codes(column).iter()))
            .collect()
    }

    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, self.points.all_rows())
    }
}

/// What a search found, and what it proved.
#[pyclass(frozen, get_all, module = "certree._core", name = "Answer")]
struct PyAnswer {
    tree: Py<PyTree>,
    objective: f64,
    lower_bound: f64,
    status: &'static str,
    seconds: f64,
    nodes: u64,
    kernel_calls: u64,
    peak_bytes: u64,
    /// (seconds, upper, lower)
    curve: Vec<(f64, f64, f64)>,
}

/// Class structure: row weight by point and class, cost by class and label.
#[pyfunction]
#[pyo3(signature = (columns, points, weights, costs, class_weights, balanced, leaf_penalty, shape, limits, pulse=None))]
#[allow(clippy::too_many_arguments)]
fn solve_classes(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    weights: PyReadonlyArray1<'_, f64>,
    costs: Vec<f64>,
    class_weights: Vec<f64>,
    balanced: bool,
    leaf_penalty: f64,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let n_classes = class_weights.len();
    let n_labels = costs.len() / n_classes.max(1);
    let input = ClassInput {
        n_classes,
        n_labels,
        weights: weights.to_vec()?,
        costs,
        class_weights,
        balanced,
        leaf_penalty,
    };
    let data = (read_columns(py, columns)?, points.get().points.clone());
    solve(py, data, || input.build(), shape, limits, pulse)
}

/// Costs by point and label (row-major), each summed over the point's rows.
#[pyfunction]
#[pyo3(signature = (columns, points, costs, n_labels, normalizer, leaf_penalty, shape, limits, pulse=None))]
#[allow(clippy::too_many_arguments)]
fn solve_rows(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    points: &Bound<'_, PyPoints>,
    costs: PyReadonlyArray1<'_, f64>,
    n_labels: usize,
    normalizer: f64,
    leaf_penalty: f64,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let costs = costs.to_vec()?;
    let data = (read_columns(py, columns)?, points.get().points.clone());
    let build = || RowCosts::build(n_labels, &costs, normalizer, leaf_penalty, None);
    solve(py, data, build, shape, limits, pulse)
}

/// (max_depth, max_leaf_nodes, min_samples_leaf)
type ShapeParts = (Option<u32>, Option<u32>, u64);
/// (time_limit in seconds, memory_limit in bytes, gap_limit, threads)
type LimitParts = (Option<f64>, Option<u64>, f64, usize);

fn read_columns(py: Python<'_>, columns: Vec<(String, Py<PyAny>)>) -> PyResult<Vec<Column>> {
    (columns.into_iter())
        .map(|(name, kind)| Ok(Column { name, kind: read_kind(kind.bind(py))? }))
        .collect()
}

/// None: Boolean. A list of strings: a category's values. A list of numbers: cuts.
fn read_kind(kind: &Bound<'_, PyAny>) -> PyResult<ColumnKind> {
    if kind.is_none() {
        return Ok(ColumnKind::Boolean);
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

fn solve(
    py: Python<'_>,
    (columns, points): (Vec<Column>, Points),
    build: impl FnOnce() -> crate::error::Result<Scaled> + Send,
    (max_depth, max_leaves, min_leaf_rows): ShapeParts,
    (time, memory, gap, threads): LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let shape = Shape { max_depth, max_leaves, min_leaf_rows };
    let limits = Limits { time: time.map(Duration::from_secs_f64), memory, gap, threads };
    let raised: Arc<Mutex<Option<PyErr>>> = Arc::new(Mutex::new(None));
    let beat = beat(pulse, raised.clone());
    let answer = py.detach(move || {
        points.check(&columns)?;
        let problem = Problem::new(columns, points, build()?, shape)?;
        let run = Run::new(limits, problem.scale, Some(beat));
        crate::solve::solve(&problem, &run)
    });
    if let Some(error) = raised.lock().unwrap_or_else(|p| p.into_inner()).take() {
        return Err(error);
    }
    let answer = answer?;
    Ok(PyAnswer {
        tree: Py::new(py, PyTree { tree: answer.tree })?,
        objective: answer.objective,
        lower_bound: answer.lower_bound,
        status: answer.status.name(),
        seconds: answer.seconds,
        nodes: answer.work.nodes,
        kernel_calls: answer.work.kernel_calls,
        peak_bytes: answer.work.peak_bytes,
        curve: (answer.curve.iter()).map(|m| (m.seconds, m.upper, m.lower)).collect(),
    })
}

/// Polls for Ctrl-C, which ends the search with the best tree so far, and calls the user's callback
/// with (seconds, objective, lower_bound, nodes, kernel_calls, peak_bytes). A callback that returns
/// False ends the search likewise; one that raises ends it with its error.
fn beat(callback: Option<Py<PyAny>>, raised: Arc<Mutex<Option<PyErr>>>) -> Pulse<'static> {
    Box::new(move |p: &Progress| {
        Python::attach(|py| {
            if py.check_signals().is_err() {
                return false;
            }
            let Some(callback) = &callback else {
                return true;
            };
            let work = p.work;
            let args = (
                p.seconds,
                p.objective,
                p.lower_bound,
                work.nodes,
                work.kernel_calls,
                work.peak_bytes,
            );
            match callback.call1(py, args) {
                Ok(go_on) => !go_on.bind(py).is(PyBool::new(py, false)),
                Err(error) => {
                    *raised.lock().unwrap_or_else(|p| p.into_inner()) = Some(error);
                    false
                }
            }
        })
    })
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<PyTree>()?;
    module.add_class::<PyTable>()?;
    module.add_class::<PyPoints>()?;
    module.add_class::<PyAnswer>()?;
    module.add_function(wrap_pyfunction!(solve_classes, module)?)?;
    module.add_function(wrap_pyfunction!(solve_rows, module)?)?;
    Ok(())
}
