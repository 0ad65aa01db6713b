//! The narrow door to Python: the only file that imports PyO3. It releases the GIL while a search
//! runs, polls for Ctrl-C, and maps errors. No decision about trees is made here.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};

use crate::data::{Column, ColumnKind, Points, Threshold};
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
            Error::Mismatch { .. } => PyRuntimeError::new_err(error.to_string()),
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

/// A borrowed numpy array of one of the types that prediction reads.
enum Held<'py> {
    F64(PyReadonlyArray1<'py, f64>),
    F32(PyReadonlyArray1<'py, f32>),
    I64(PyReadonlyArray1<'py, i64>),
    I32(PyReadonlyArray1<'py, i32>),
    I16(PyReadonlyArray1<'py, i16>),
    I8(PyReadonlyArray1<'py, i8>),
    U64(PyReadonlyArray1<'py, u64>),
    U32(PyReadonlyArray1<'py, u32>),
    U16(PyReadonlyArray1<'py, u16>),
    U8(PyReadonlyArray1<'py, u8>),
    Bool(PyReadonlyArray1<'py, bool>),
}

macro_rules! each_type {
    ($macro:ident) => {
        $macro!(F64, F32, I64, I32, I16, I8, U64, U32, U16, U8, Bool)
    };
}

impl<'py> Held<'py> {
    fn new(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        macro_rules! read {
            ($($kind:ident),*) => {
                $(if let Ok(held) = array.extract() {
                    return Ok(Held::$kind(held));
                })*
            };
        }
        each_type!(read);
        Err(PyValueError::new_err(
            "values must be a one-dimensional numpy array of numbers or Booleans",
        ))
    }

    fn values(&self) -> PyResult<Values<'_>> {
        macro_rules! view {
            ($($kind:ident),*) => {
                match self {
                    $(Held::$kind(array) => {
                        debug_assert!(array.ndim() == 1);
                        Values::$kind(array.as_slice()?)
                    })*
                }
            };
        }
        Ok(each_type!(view))
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
#[pyo3(signature = (columns, codes, rows, weights, costs, class_weights, balanced, leaf_penalty, shape, limits, pulse=None))]
#[allow(clippy::too_many_arguments)]
fn solve_classes(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    codes: Vec<PyReadonlyArray1<'_, u32>>,
    rows: PyReadonlyArray1<'_, u64>,
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
    let data = read_points(py, columns, codes, rows)?;
    solve(py, data, || input.build(), shape, limits, pulse)
}

/// Costs by point and label (row-major), each summed over the point's rows.
#[pyfunction]
#[pyo3(signature = (columns, codes, rows, costs, n_labels, normalizer, leaf_penalty, shape, limits, pulse=None))]
#[allow(clippy::too_many_arguments)]
fn solve_rows(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    codes: Vec<PyReadonlyArray1<'_, u32>>,
    rows: PyReadonlyArray1<'_, u64>,
    costs: PyReadonlyArray1<'_, f64>,
    n_labels: usize,
    normalizer: f64,
    leaf_penalty: f64,
    shape: ShapeParts,
    limits: LimitParts,
    pulse: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let costs = costs.to_vec()?;
    let data = read_points(py, columns, codes, rows)?;
    let build = || RowCosts::build(n_labels, &costs, normalizer, leaf_penalty, None);
    solve(py, data, build, shape, limits, pulse)
}

/// (max_depth, max_leaf_nodes, min_samples_leaf)
type ShapeParts = (Option<u32>, Option<u32>, u64);
/// (time_limit in seconds, memory_limit in bytes, gap_limit, threads)
type LimitParts = (Option<f64>, Option<u64>, f64, usize);

fn read_points(
    py: Python<'_>,
    columns: Vec<(String, Py<PyAny>)>,
    codes: Vec<PyReadonlyArray1<'_, u32>>,
    rows: PyReadonlyArray1<'_, u64>,
) -> PyResult<(Vec<Column>, Points)> {
    let columns: Vec<Column> = columns
        .into_iter()
        .map(|(name, kind)| {
            let kind = read_kind(kind.bind(py))?;
            Ok(Column { name, kind })
        })
        .collect::<PyResult<_>>()?;
    let codes = codes.iter().map(|codes| codes.to_vec()).collect::<Result<_, _>>()?;
    let points = Points::new(&columns, codes, rows.to_vec()?)?;
    Ok((columns, points))
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
    module.add_class::<PyAnswer>()?;
    module.add_function(wrap_pyfunction!(solve_classes, module)?)?;
    module.add_function(wrap_pyfunction!(solve_rows, module)?)?;
    Ok(())
}
