//! Numbers and texts of the files.

/// FNV-1a, which tells a proof of another instance at once. Nothing rests on it.
pub fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Seven bits in each byte, the lowest first.
pub fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A text as JSON, in ASCII without a line break.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for unit in text.encode_utf16() {
        match char::from_u32(u32::from(unit)) {
            Some(c @ ('"' | '\\')) => out.extend(['\\', c]),
            Some(c) if c == ' ' || c.is_ascii_graphic() => out.push(c),
            _ => out.push_str(&format!("\\u{unit:04x}")),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers_are_written_as_documented() {
        assert_eq!(quoted("a \"b\"\n"), "\"a \\\"b\\\"\\u000a\"");
        assert_eq!(quoted("é𝄞"), "\"\\u00e9\\ud834\\udd1e\"");
        let mut out = Vec::new();
        write_number(300, &mut out);
        assert_eq!(out, [0xac, 2]);
        assert_eq!(digest(b""), 0xcbf2_9ce4_8422_2325);
    }
}
