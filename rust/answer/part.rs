//! Some of all trees of a problem, by their first split, for a process that searches these alone.

use crate::error::Result;
use crate::problem::Problem;
use crate::route::Route;
use crate::search::{best_first, intervals};
use crate::serial::{self, Kind, Writer, damaged};

/// More parts by number than this are not made: no problem that is searched cut by cut has so many
/// questions.
const MOST: u32 = 1 << 20;

pub enum Part {
    /// By the number of the first question.
    Questions(best_first::Part),
    /// By the interval of its cuts that the first question is in.
    Cuts(intervals::RootPart),
}

impl Part {
    /// All trees, of which nothing is known. `None` where the route divides nothing.
    pub fn whole(route: Route) -> Option<Part> {
        match route {
            Route::CutByCut => Some(Part::Questions(best_first::Part { rest: 0, of: 1 })),
            Route::Intervals => Some(Part::Cuts(intervals::RootPart::default())),
            _ => None,
        }
    }

    /// Two parts that are this one together, if it can be divided.
    pub fn halves(self) -> Option<[Part; 2]> {
        match self {
            Part::Questions(best_first::Part { rest, of }) => (of < MOST).then(|| {
                [rest, rest + of].map(|rest| Part::Questions(best_first::Part { rest, of: 2 * of }))
            }),
            Part::Cuts(part) => Some(part.halves()?.map(Part::Cuts)),
        }
    }

    /// Whether all its cuts were looked at without the limits on leaves. It goes on when this is
    /// so of all parts, which are joined then.
    pub fn waits(&self) -> bool {
        matches!(self, Part::Cuts(part) if part.waits())
    }

    /// Parts that wait, as one.
    pub fn joined(parts: Vec<Part>) -> Option<Part> {
        let cuts = parts.into_iter().map(|part| match part {
            Part::Cuts(part) => Some(part),
            Part::Questions(_) => None,
        });
        Some(Part::Cuts(intervals::RootPart::joined(cuts.collect::<Option<Vec<_>>>()?)?))
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        match self {
            Part::Questions(best_first::Part { rest, of }) => {
                out.byte(0);
                [rest, of].into_iter().for_each(|number| out.short(*number));
            }
            Part::Cuts(part) => {
                out.byte(1);
                part.write(&mut out);
            }
        }
        serial::seal(Kind::Part, out)
    }

    pub fn from_bytes(problem: &Problem, bytes: &[u8]) -> Result<Part> {
        let from = &mut serial::open(Kind::Part, bytes)?;
        let part = match from.byte()? {
            0 => {
                let (rest, of) = (from.short()?, from.short()?);
                if rest >= of || of > MOST {
                    return Err(damaged("there is no such part"));
                }
                Part::Questions(best_first::Part { rest, of })
            }
            1 => Part::Cuts(intervals::RootPart::read(from, &problem.features)?),
            _ => return Err(damaged("a part is of no known kind")),
        };
        from.finish()?;
        Ok(part)
    }
}
