//! Finished trees at the border: built from parts, taken to parts, and sent rows.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};

use super::arrays::Held;
use crate::data::Threshold;
use crate::ids::{ColumnId, Side, TreeNodeId};
use crate::tree::{Node, Router, Split, Test, Tree, Values};

/// A finished tree: tests on columns by index, and what each node holds.
#[pyclass(frozen, module = "certree._core", name = "Tree")]
pub(super) struct PyTree {
    pub(super) tree: Tree,
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
        Ok(PyTree { tree: Tree { nodes } })
    }

    /// The nodes in preorder: (split or None, label, rows, value, loss), where a split is
    /// (column, test, left, right, missing). A test is True, a string ("is value"), None ("is
    /// missing"), two tuples of strings (the values that go left, and right) or a threshold, and
    /// missing values go "left" or "right", or None if there are none.
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

    /// The leaf each row ends in. `slots[node]` says which array a node's test reads, and
    /// `missing[slot]` which of its values are missing, if any are.
    #[pyo3(signature = (slots, arrays, n_rows, missing=None))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        slots: Vec<usize>,
        arrays: Vec<Bound<'py, PyAny>>,
        n_rows: usize,
        missing: Option<Vec<Option<PyReadonlyArray1<'py, bool>>>>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let columns: Vec<Held<'py>> = arrays.iter().map(Held::new).collect::<PyResult<_>>()?;
        let values: Vec<Values<'_>> = columns.iter().map(Held::values).collect::<PyResult<_>>()?;
        let missing = missing.unwrap_or_default();
        let missing = (missing.iter())
            .map(|missing| missing.as_ref().map(|missing| missing.as_slice()).transpose())
            .collect::<Result<Vec<_>, _>>()?;
        let router = Router::new(&self.tree, &slots).with_missing(&missing);
        let leaves = py.detach(|| router.apply(&values, n_rows))?;
        Ok(PyArray1::from_vec(py, leaves))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, AllParts<'py>)> {
        Ok((py.get_type::<PyTree>().into_any().unbind(), (self.parts(py)?,)))
    }
}

/// How many rows there are in each node, by their nodes. `kept`: which rows count; all of them
/// without it.
#[pyfunction]
#[pyo3(signature = (nodes, n_nodes, kept=None))]
pub(super) fn count_rows(
    nodes: PyReadonlyArray1<'_, u32>,
    n_nodes: usize,
    kept: Option<PyReadonlyArray1<'_, bool>>,
) -> PyResult<Vec<u64>> {
    let nodes = nodes.as_slice()?;
    let kept = kept.as_ref().map(|kept| kept.as_slice()).transpose()?;
    if kept.is_some_and(|kept| kept.len() != nodes.len()) {
        return Err(PyValueError::new_err("kept must say something of each row"));
    }
    let mut counts = vec![0; n_nodes];
    for (row, &node) in nodes.iter().enumerate() {
        match counts.get_mut(node as usize) {
            Some(count) => *count += kept.map_or(1, |kept| u64::from(kept[row])),
            None => return Err(PyValueError::new_err(format!("there is no node {node}"))),
        }
    }
    Ok(counts)
}

fn write_split<'py>(py: Python<'py>, split: &Split) -> PyResult<Bound<'py, PyTuple>> {
    let test = match &split.test {
        Test::IsTrue => PyBool::new(py, true).to_owned().into_any(),
        Test::Is(value) => PyString::new(py, value).into_any(),
        Test::AtMost(Threshold::Float(t)) => PyFloat::new(py, *t).into_any(),
        Test::AtMost(Threshold::Int(t)) => t.into_pyobject(py)?.into_any(),
        Test::IsMissing => py.None().into_bound(py),
        Test::In { left, right } => {
            (PyTuple::new(py, left)?, PyTuple::new(py, right)?).into_pyobject(py)?.into_any()
        }
    };
    let missing = split.missing.map(|side| match side {
        Side::Left => "left",
        Side::Right => "right",
    });
    (split.column.0, test, split.left.0, split.right.0, missing).into_pyobject(py)
}

fn read_split(split: &Bound<'_, PyTuple>, index: usize, n_nodes: usize) -> PyResult<Split> {
    type Parts<'py> = (u32, Bound<'py, PyAny>, u32, u32);
    // Trees that were pickled before there were missing values do not say where these go.
    let missing: Option<String> = match split.len() {
        5 => split.get_item(4)?.extract()?,
        _ => None,
    };
    let (column, test, left, right): Parts<'_> = split.get_slice(0, 4).extract()?;
    let missing = match missing.as_deref() {
        None => None,
        Some("left") => Some(Side::Left),
        Some("right") => Some(Side::Right),
        Some(other) => {
            return Err(PyValueError::new_err(format!("missing values cannot go {other:?}")));
        }
    };
    let test = if test.is_none() {
        Test::IsMissing
    } else if test.is_instance_of::<PyTuple>() {
        let (left, right) = test.extract()?;
        Test::In { left, right }
    } else if test.is_instance_of::<PyBool>() {
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
    let (left, right) = (TreeNodeId(left), TreeNodeId(right));
    Ok(Split { column: ColumnId(column), test, missing, left, right })
}
