//! Columns and points as bytes.

use super::codes::{Bits, Codes};
use super::columns::{Column, ColumnKind, Threshold};
use super::points::Points;
use crate::error::Result;
use crate::serial::{Reader, Saved, Writer, damaged};

impl Saved for Threshold {
    fn write(&self, out: &mut Writer) {
        match self {
            Threshold::Float(cut) => {
                out.byte(0);
                out.float(*cut);
            }
            Threshold::Int(cut) => {
                out.byte(1);
                out.signed(*cut);
            }
        }
    }

    fn read(from: &mut Reader) -> Result<Threshold> {
        match from.byte()? {
            0 => Ok(Threshold::Float(from.float()?)),
            1 => Ok(Threshold::Int(from.signed()?)),
            _ => Err(damaged("a cut is of no known type")),
        }
    }
}

impl Saved for Column {
    fn write(&self, out: &mut Writer) {
        out.text(&self.name);
        match &self.kind {
            ColumnKind::Ordered(cuts) => {
                out.byte(0);
                out.list(cuts.iter(), |out, cut| cut.write(out));
            }
            ColumnKind::Boolean => out.byte(1),
            ColumnKind::Category(values) => {
                out.byte(2);
                out.list(values.iter(), |out, value| out.text(value));
            }
            ColumnKind::Sets(values) => {
                out.byte(3);
                out.list(values.iter(), |out, value| out.text(value));
            }
        }
        out.byte(u8::from(self.missing));
    }

    fn read(from: &mut Reader) -> Result<Column> {
        let name = from.text()?;
        let kind = match from.byte()? {
            0 => ColumnKind::Ordered(from.list(Threshold::read)?),
            1 => ColumnKind::Boolean,
            2 => ColumnKind::Category(from.list(Reader::text)?),
            3 => ColumnKind::Sets(from.list(Reader::text)?),
            _ => return Err(damaged("a column is of no known kind")),
        };
        let missing = match from.byte()? {
            0 => false,
            1 => true,
            _ => return Err(damaged("a column is neither with missing values nor without")),
        };
        Ok(Column { name, kind, missing })
    }
}

impl Saved for Codes {
    fn write(&self, out: &mut Writer) {
        match self {
            Codes::Narrow(codes) => {
                out.byte(0);
                out.size(codes.len());
                out.raw(codes);
            }
            Codes::Wide(codes) => {
                out.byte(1);
                out.shorts(codes);
            }
            Codes::Bits(codes) => {
                out.byte(2);
                out.size(codes.len());
                codes.words().iter().for_each(|&word| out.number(word));
            }
        }
    }

    fn read(from: &mut Reader) -> Result<Codes> {
        match from.byte()? {
            0 => {
                let n = from.size()?;
                Ok(Codes::Narrow(from.raw(n)?.to_vec()))
            }
            1 => Ok(Codes::Wide(from.shorts()?)),
            2 => {
                let n = from.size()?;
                let words = (0..n.div_ceil(64)).map(|_| from.number()).collect::<Result<_>>()?;
                let bits = Bits::of_words(n, words);
                bits.map(Codes::Bits).ok_or_else(|| damaged("there are bits beyond the last one"))
            }
            _ => Err(damaged("codes are of no known type")),
        }
    }
}

impl Saved for Points {
    fn write(&self, out: &mut Writer) {
        out.list((0..self.n_columns()).map(|column| self.codes(column)), |out, codes| {
            codes.write(out);
        });
        out.list(self.all_rows().iter(), |out, &rows| out.number(rows));
    }

    /// Whether they are points of some columns, [`Points::check`] says.
    fn read(from: &mut Reader) -> Result<Points> {
        Ok(Points::grouped(from.list(Codes::read)?, from.list(Reader::number)?))
    }
}
