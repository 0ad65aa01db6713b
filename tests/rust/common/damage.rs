//! Bytes that are damaged, at random.

use certree::serial::{self, Kind, Writer};

use super::Random;

/// The bytes in front of what is written: magic word, version, kind and checksum.
pub const HEADER: usize = 22;

/// Bytes with a part cut off, changed, repeated or put elsewhere.
pub fn damaged(rng: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.range(1, 3) {
        let at = rng.below(bytes.len().max(1));
        match rng.below(6) {
            _ if bytes.is_empty() => {}
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1 << rng.below(8),
            2 => bytes[at] = rng.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
            // A number that promises much.
            3 => {
                let number = [0xff; 9].into_iter().chain([rng.pick(&[0, 1, 0x7f])]);
                bytes.splice(at..at, number);
            }
            4 => {
                let end = rng.range(at, bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let part: Vec<u8> = bytes[at..rng.range(at, bytes.len())].to_vec();
                let to = rng.below(bytes.len());
                bytes.splice(to..to, part);
            }
        }
    }
    bytes
}

/// This damage under a checksum that is right.
pub fn sealed(kind: Kind, body: &[u8]) -> Vec<u8> {
    let mut out = Writer::new();
    out.raw(body);
    serial::seal(kind, out)
}
