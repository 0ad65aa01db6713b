//! Tables in memory: ranked, counted, and grouped to points.

use std::time::Duration;

use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::{Held, each_type};
use crate::data::{
    Codes, Digit, Located, Points, Ranked, Room, Sparse, Value, group, locate, merge, rank_columns,
};
use crate::error;
use crate::serial::{self, Kind, Saved, Writer, damaged};
use crate::tree::Values;

/// Columns in memory, each value replaced by its rank.
#[pyclass(frozen, module = "certree._core", name = "Table")]
pub(super) struct PyTable {
    columns: Vec<(Ranked, Type)>,
    /// How many of them were ranked before the time was over; the others are not told apart.
    #[pyo3(get)]
    n_ranked: usize,
}

macro_rules! types {
    ($($kind:ident $type:ty),*) => {
        /// What a column was before it was ranked.
        #[derive(Clone, Copy)]
        enum Type { $($kind),* }
    };
}
each_type!(types);

/// The columns in order, and how many of them were ranked.
type Columns = (Vec<(Ranked, Type)>, usize);

/// Columns of one type: their values, and how these lie.
type Part<'a> = (Values<'a>, Layout<'a>);

#[derive(Clone, Copy)]
enum Layout<'a> {
    /// So many columns in one piece, whether they lie by row, and which rows have no value.
    Dense(usize, bool, Option<&'a [bool]>),
    /// The row of each value, where columns start, and how many rows there are (`Sparse`).
    Sparse(&'a [u32], &'a [u64], usize),
}

impl Layout<'_> {
    fn n_columns(self) -> usize {
        match self {
            Layout::Dense(n_columns, ..) => n_columns,
            Layout::Sparse(_, starts, _) => starts.len().saturating_sub(1),
        }
    }

    fn n_rows(self, n_values: usize) -> usize {
        match self {
            Layout::Dense(n_columns, ..) => n_values / n_columns.max(1),
            Layout::Sparse(.., n_rows) => n_rows,
        }
    }

    fn rank<T: Value + Default>(
        self,
        values: &[T],
        held: usize,
        room: &Room,
    ) -> error::Result<Vec<Ranked>> {
        match self {
            Layout::Dense(n_columns, by_row, missing) => {
                rank_columns(values, (n_columns, by_row), missing, held, room)
            }
            Layout::Sparse(rows, starts, n_rows) => {
                Sparse { values, rows, starts, n_rows }.rank(held, room)
            }
        }
    }
}

fn rank(parts: &[Part<'_>], room: &Room) -> error::Result<Columns> {
    let (mut columns, mut held, mut n_ranked) = (Vec::new(), 0, None);
    for (values, layout) in parts {
        macro_rules! rank {
            ($($kind:ident $type:ty),*) => {
                match values {
                    $(Values::$kind(values) => {
                        let found = match n_ranked {
                            None => layout.rank(values, held, room)?,
                            Some(_) => Vec::new(),
                        };
                        held += found.iter().map(Ranked::bytes).sum::<usize>();
                        let unread = layout.n_columns() - found.len();
                        columns.extend(found.into_iter().map(|ranked| (ranked, Type::$kind)));
                        if unread > 0 {
                            n_ranked.get_or_insert(columns.len());
                            let n_rows = layout.n_rows(values.len());
                            let none = || (Ranked::unread(n_rows), Type::$kind);
                            columns.extend(std::iter::repeat_with(none).take(unread));
                        }
                    })*
                }
            };
        }
        each_type!(rank);
    }
    let n_ranked = n_ranked.unwrap_or(columns.len());
    Ok((columns, n_ranked))
}

/// Columns as they come from Python.
#[derive(FromPyObject)]
enum Given<'py> {
    Sparse(Bound<'py, PyAny>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u64>, usize),
    #[pyo3(transparent)]
    Dense(Bound<'py, PyAny>),
}

impl<'py> Given<'py> {
    fn values(&self) -> &Bound<'py, PyAny> {
        match self {
            Given::Sparse(values, ..) | Given::Dense(values) => values,
        }
    }
}

fn room(bytes: Option<u64>, seconds: Option<f64>) -> PyResult<Room> {
    let time = seconds.map(Duration::try_from_secs_f64).transpose();
    let time = time.map_err(|error| PyValueError::new_err(format!("seconds: {error}")))?;
    Ok(Room::new(bytes, time))
}

#[pymethods]
impl PyTable {
    /// From arrays of one column, or of several: rows × columns; or of sparse ones: their values,
    /// column after column, the rows of these, where each column starts, and the number of rows. It
    /// is an error if the ranks take more than `bytes`; once `seconds` are over, the other columns
    /// are not ranked. `missing` says of each array which rows have no value, if any; floats that
    /// are not a number are missing, too.
    #[new]
    #[pyo3(signature = (arrays, bytes=None, seconds=None, missing=None))]
    fn new(
        py: Python<'_>,
        arrays: Vec<Given<'_>>,
        bytes: Option<u64>,
        seconds: Option<f64>,
        missing: Option<Vec<Option<PyReadonlyArray1<'_, bool>>>>,
    ) -> PyResult<Self> {
        let room = room(bytes, seconds)?;
        let held: Vec<Held<'_>> =
            arrays.iter().map(|given| Held::new(given.values())).collect::<PyResult<_>>()?;
        let missing = missing.unwrap_or_default();
        if !missing.is_empty() && missing.len() != held.len() {
            return Err(PyValueError::new_err("missing values are not told of each array"));
        }
        let missing_of = |at: usize| missing.get(at).and_then(Option::as_ref);
        let parts = (held.iter().zip(&arrays).enumerate())
            .map(|(at, (held, given))| {
                let missing = missing_of(at).map(|missing| missing.as_slice()).transpose()?;
                let layout = match given {
                    Given::Dense(_) => {
                        let (n_columns, by_row) = held.layout()?;
                        Layout::Dense(n_columns, by_row, missing)
                    }
                    Given::Sparse(_, rows, starts, n_rows) => {
                        Layout::Sparse(rows.as_slice()?, starts.as_slice()?, *n_rows)
                    }
                };
                Ok((held.values()?, layout))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let (columns, n_ranked) = py.detach(|| rank(&parts, &room))?;
        Ok(PyTable { columns, n_ranked })
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

    /// Whether values of a column are missing.
    fn has_missing(&self, column: usize) -> PyResult<bool> {
        Ok(self.column(column)?.0.missing)
    }

    /// Where each row's value stands among them; beyond the last one, if it is missing.
    fn ranks<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let ranks = self.column(column)?.0.ranks.iter().collect();
        Ok(PyArray1::from_vec(py, ranks))
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

    /// Rows with the same codes become one point: the points in the order of their codes, first
    /// column first, and their weight by class (point-major). `codes` gives for each column the
    /// code of each rank, or None where ranks are the codes. It is an error if that takes more than
    /// `bytes`, and None if it takes more than `seconds`.
    #[pyo3(signature = (codes, n_codes, classes, n_classes, weights=None, bytes=None, seconds=None))]
    #[allow(clippy::too_many_arguments)]
    fn group<'py>(
        &self,
        py: Python<'py>,
        codes: Vec<Option<PyReadonlyArray1<'py, u32>>>,
        n_codes: Vec<usize>,
        classes: PyReadonlyArray1<'py, u32>,
        n_classes: usize,
        weights: Option<PyReadonlyArray1<'py, i64>>,
        bytes: Option<u64>,
        seconds: Option<f64>,
    ) -> PyResult<Option<(PyPoints, Bound<'py, PyArray1<i64>>)>> {
        let room = room(bytes, seconds)?;
        let code_of = code_slices(&codes)?;
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let classes = classes.as_slice()?;
        let digits = self.digits(&code_of, &n_codes)?;
        let grouped = py.detach(|| group(&digits, classes, n_classes, weights, &room))?;
        Ok(grouped.map(|grouped| {
            let weights = PyArray1::from_vec(py, grouped.weights);
            (PyPoints { points: grouped.points }, weights)
        }))
    }

    /// As `group`, without classes: the points, and which of them each row belongs to.
    #[pyo3(signature = (codes, n_codes, bytes=None, seconds=None))]
    fn locate<'py>(
        &self,
        py: Python<'py>,
        codes: Vec<Option<PyReadonlyArray1<'py, u32>>>,
        n_codes: Vec<usize>,
        bytes: Option<u64>,
        seconds: Option<f64>,
    ) -> PyResult<Option<(PyPoints, Bound<'py, PyArray1<u32>>)>> {
        let room = room(bytes, seconds)?;
        let code_of = code_slices(&codes)?;
        let digits = self.digits(&code_of, &n_codes)?;
        let n_rows = digits.first().map_or(0, |digit| digit.ranks.len());
        let located = py.detach(|| locate(&digits, n_rows, &room))?;
        Ok(located.map(|located| {
            let point_of = PyArray1::from_vec(py, located.point_of);
            (PyPoints { points: located.points }, point_of)
        }))
    }
}

/// The sums over each point's rows of values (rows × columns), each row times its weight.
#[pyfunction]
#[pyo3(signature = (point_of, n_points, values, weights=None))]
pub(super) fn sum_by_point<'py>(
    py: Python<'py>,
    point_of: PyReadonlyArray1<'py, u32>,
    n_points: usize,
    values: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let width = values.shape()[1];
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let (point_of, values) = (point_of.as_slice()?, values.as_slice()?);
    let sums =
        py.detach(|| crate::data::sum_by_point(point_of, n_points, values, width, weights))?;
    PyArray1::from_vec(py, sums).reshape([n_points, width])
}

/// As above, without any rounding: arrays whose sum each sum is, the first of which has it rounded
/// once.
#[pyfunction]
#[pyo3(signature = (point_of, n_points, values, weights=None))]
pub(super) fn exact_sums_by_point<'py>(
    py: Python<'py>,
    point_of: PyReadonlyArray1<'py, u32>,
    n_points: usize,
    values: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
    let width = values.shape()[1];
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let (point_of, values) = (point_of.as_slice()?, values.as_slice()?);
    let lists =
        py.detach(|| crate::data::exact_sums_by_point(point_of, n_points, values, width, weights))?;
    let shaped = |list| PyArray1::from_vec(py, list).reshape([n_points, width]);
    lists.into_iter().map(shaped).collect()
}

/// By pair of neighbours the decimal of fewest digits strictly between, nearest to the midpoint;
/// the midpoint where there is none.
#[pyfunction]
pub(super) fn shortest_decimals<'py>(
    py: Python<'py>,
    low: PyReadonlyArray1<'py, f64>,
    high: PyReadonlyArray1<'py, f64>,
    middle: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (low, high, middle) = (low.as_slice()?, high.as_slice()?, middle.as_slice()?);
    if low.len() != middle.len() || high.len() != middle.len() {
        return Err(PyValueError::new_err("there are not as many neighbours as midpoints"));
    }
    let shorten = |i: usize| crate::data::shortest(low[i], high[i], middle[i]);
    Ok(PyArray1::from_vec(py, py.detach(|| (0..middle.len()).map(shorten).collect())))
}

fn code_slices<'a>(
    codes: &'a [Option<PyReadonlyArray1<'_, u32>>],
) -> PyResult<Vec<Option<&'a [u32]>>> {
    Ok((codes.iter())
        .map(|codes| codes.as_ref().map(|codes| codes.as_slice()).transpose())
        .collect::<Result<_, _>>()?)
}

impl PyTable {
    fn digits<'a>(
        &'a self,
        code_of: &[Option<&'a [u32]>],
        n_codes: &[usize],
    ) -> PyResult<Vec<Digit<'a>>> {
        if [code_of.len(), n_codes.len()] != [self.columns.len(); 2] {
            return Err(PyValueError::new_err("codes are not given for all columns"));
        }
        Ok((self.columns.iter().zip(code_of).zip(n_codes))
            .map(|(((ranked, _), &code_of), &n_codes)| Digit {
                ranks: &ranked.ranks,
                code_of,
                n_codes,
            })
            .collect())
    }

    fn column(&self, index: usize) -> PyResult<&(Ranked, Type)> {
        self.columns.get(index).ok_or_else(|| PyValueError::new_err("there is no such column"))
    }
}

/// Groups of rows that no split can tell apart: a code for each column, and how many rows.
#[pyclass(frozen, module = "certree._core", name = "Points")]
pub(super) struct PyPoints {
    pub(super) points: Points,
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

    /// All points of some lists, where those with the same codes in the first columns become one:
    /// as many columns as `n_codes` has. Also which one each became, list after list.
    #[staticmethod]
    #[pyo3(signature = (parts, n_codes, bytes=None))]
    fn merged<'py>(
        py: Python<'py>,
        parts: Vec<Py<PyPoints>>,
        n_codes: Vec<usize>,
        bytes: Option<u64>,
    ) -> PyResult<(PyPoints, Bound<'py, PyArray1<u32>>)> {
        let room = room(bytes, None)?;
        let parts: Vec<&Points> = parts.iter().map(|part| &part.get().points).collect();
        let Located { points, point_of } = py.detach(|| merge(&parts, &n_codes, &room))?;
        Ok((PyPoints { points }, PyArray1::from_vec(py, point_of)))
    }

    /// All of it as bytes, which [`from_bytes`] reads, here or in another process.
    fn to_bytes(&self, py: Python<'_>) -> Py<PyBytes> {
        let bytes = py.detach(|| {
            let mut out = Writer::new();
            self.points.write(&mut out);
            serial::seal(Kind::Points, out)
        });
        PyBytes::new(py, &bytes).unbind()
    }

    /// The points that these bytes were made from.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let points = py.detach(|| {
            let from = &mut serial::open(Kind::Points, bytes)?;
            let points = Points::read(from)?;
            from.finish()?;
            let n_points = points.len();
            if (0..points.n_columns()).any(|column| points.codes(column).len() != n_points) {
                return Err(damaged("columns have different numbers of points"));
            }
            Ok(points)
        })?;
        Ok(PyPoints { points })
    }

    /// Pickles hold the bytes.
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (Py<PyBytes>,))> {
        let py = slf.py();
        let read = py.get_type::<Self>().getattr("from_bytes")?.unbind();
        Ok((read, (slf.get().to_bytes(py),)))
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
