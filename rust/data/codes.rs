//! Codes: small numbers, one for each row or point, in as few bytes as hold them.

/// Most columns have few codes, and a search reads them all: a byte each is four times less to
/// move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codes {
    Narrow(Vec<u8>),
    Wide(Vec<u32>),
}

impl Codes {
    /// Whether codes below `n_codes` fit in a byte.
    pub fn is_narrow(n_codes: usize) -> bool {
        n_codes <= 256
    }

    pub fn new(codes: Vec<u32>) -> Codes {
        match codes.iter().max() {
            Some(&most) if !Codes::is_narrow(most as usize + 1) => Codes::Wide(codes),
            _ => Codes::Narrow(codes.into_iter().map(|code| code as u8).collect()),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Codes::Narrow(codes) => codes.len(),
            Codes::Wide(codes) => codes.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        match self {
            Codes::Narrow(codes) => codes.capacity(),
            Codes::Wide(codes) => codes.capacity() * size_of::<u32>(),
        }
    }

    #[inline]
    pub fn get(&self, index: usize) -> u32 {
        match self {
            Codes::Narrow(codes) => u32::from(codes[index]),
            Codes::Wide(codes) => codes[index],
        }
    }

    /// The largest code.
    pub fn most(&self) -> Option<u32> {
        match self {
            // A fold, which takes many codes at a time where `max` takes one.
            Codes::Narrow(codes) if !codes.is_empty() => {
                Some(u32::from(codes.iter().fold(0, |most, &code| code.max(most))))
            }
            Codes::Narrow(_) => None,
            Codes::Wide(codes) => codes.iter().max().copied(),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (narrow, wide): (&[u8], &[u32]) = match self {
            Codes::Narrow(codes) => (codes, &[]),
            Codes::Wide(codes) => (&[], codes),
        };
        narrow.iter().map(|&code| u32::from(code)).chain(wide.iter().copied())
    }
}
