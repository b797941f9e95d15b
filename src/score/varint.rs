//! Numbers as bytes, small ones short: how a look-up pins what `measured/1` counted.
//!
//! Seven bits a byte, lowest first, the high bit set while more follow. Each number has one form only.

/// Writes a number.
pub fn write(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number off the front; none when the bytes end before it does, or it is not as [`write`] writes it.
pub fn read(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0u64, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if shift > 63 || bits << shift >> shift != bits || (shift > 0 && *byte == 0) {
            return None;
        }
        number |= bits << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(number in any::<u64>()) {
            let mut bytes = Vec::new();
            write(number, &mut bytes);
            let mut rest = &bytes[..];
            prop_assert_eq!(read(&mut rest), Some(number));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn only_one_form_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            let mut rest = &bytes[..];
            if let Some(number) = read(&mut rest) {
                let mut again = Vec::new();
                write(number, &mut again);
                prop_assert_eq!(&again[..], &bytes[..bytes.len() - rest.len()]);
            }
        }
    }
}
