//! Bytes: what is saved, or sent to another process, and read there again.
//!
//! Everything that is saved begins with the same header: a magic word, the version of the format,
//! the [`Kind`] of what follows, and a checksum of it. [`seal`] writes it and [`open`] reads it. So
//! damage is found before anything is believed, because a bound that is wrong in one bit would make
//! a certificate wrong. Bytes that pass may still come from somebody who wrote them wrongly: a
//! [`Reader`] gives an error for whatever is no value, and makes room for no more values than the
//! bytes that are left can hold.
//!
//! There is one version at a time. Another one is refused with an error that says so, because what
//! is saved can always be made again.
//!
//! Whoever has something to save writes it next to its type: `Column`, `Points` in `data`, inputs
//! in `task`, `Plan` and `Tree` in `tree`, the searches' tables beside them, and what is made of
//! these parts in `posed` and `answer`. `docs/architecture/serial.md` has the formats.

mod damaged;
mod digest;
mod reader;
mod writer;

pub use damaged::damaged;
pub use digest::Digest;
pub use reader::Reader;
pub use writer::Writer;

use crate::error::{Error, Result};

const MAGIC: [u8; 4] = *b"\xc7ree";

/// Changes whenever anything that is written changes.
const VERSION: u8 = 5;

const CHECKSUM: usize = size_of::<u128>();

/// Magic word, version, kind, checksum.
const HEADER: usize = MAGIC.len() + 2 + CHECKSUM;

/// What the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Problem,
    Plan,
    Search,
    Points,
    News,
    Part,
}

const KINDS: [Kind; 6] =
    [Kind::Problem, Kind::Plan, Kind::Search, Kind::Points, Kind::News, Kind::Part];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Problem => "a problem",
            Kind::Plan => "a plan",
            Kind::Search => "a search",
            Kind::Points => "points",
            Kind::News => "news of a search",
            Kind::Part => "a part of a search",
        }
    }
}

/// A value that is written, and read again.
pub trait Saved: Sized {
    fn write(&self, out: &mut Writer);

    fn read(from: &mut Reader) -> Result<Self>;
}

/// The header and what was written behind it.
pub fn seal(kind: Kind, body: Writer) -> Vec<u8> {
    let body = body.into_bytes();
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend(MAGIC);
    bytes.extend([VERSION, kind as u8]);
    bytes.extend(Digest::of(&body).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// What stands behind the header of bytes of this kind.
pub fn open(kind: Kind, bytes: &[u8]) -> Result<Reader<'_>> {
    let Some((header, body)) = bytes.split_at_checked(HEADER).filter(|(h, _)| h[..4] == MAGIC)
    else {
        return Err(Error::invalid(format!("these bytes are not {} of certree", kind.name())));
    };
    let (version, found) = (header[4], header[5]);
    if version != VERSION {
        return Err(Error::invalid(format!(
            "these bytes have version {version} of the format, and this certree reads version \
             {VERSION}: make them again"
        )));
    }
    if found != kind as u8 {
        let found = KINDS.iter().find(|kind| **kind as u8 == found);
        return Err(Error::invalid(format!(
            "these bytes are {} and not {}",
            found.map_or("of no known kind", |found| found.name()),
            kind.name()
        )));
    }
    if header[6..] != Digest::of(body).to_le_bytes() {
        return Err(damaged("their checksum is wrong"));
    }
    Ok(Reader::new(body))
}
