//! Numpy arrays of any type that is read here, borrowed.

use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::tree::Values;

/// A borrowed numpy array of one of the types that are read here, in one piece.
pub(super) enum Held<'py> {
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
    pub(super) fn new(array: &Bound<'py, PyAny>) -> PyResult<Self> {
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
    pub(super) fn values(&self) -> PyResult<Values<'_>> {
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
    pub(super) fn layout(&self) -> PyResult<(usize, bool)> {
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

pub(super) use each_type;
