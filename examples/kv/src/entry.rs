//! Log entries and their bytes.
//!
//! Owns: the format. Does not own: where entries lie in the log.
//!
//! An entry is `checksum: u32, kind: u8, key length: u16, value length: u32`, little-endian, then
//! the key and the value. The checksum covers everything after itself. Kind 0 is no entry, so
//! zeros, as they lie past the end of a log, end it.

use crate::crc::crc32;

/// Whether entries carry a checksum that is verified when they are read back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// Written and verified.
    #[default]
    On,
    /// Neither. This is the planted bug.
    Off,
}

/// One change to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Put { key: Vec<u8>, value: Vec<u8> },
    Delete { key: Vec<u8> },
}

/// What comes before the key.
pub(crate) const HEADER_BYTES: usize = 11;

const PUT: u8 = 1;
const DELETE: u8 = 2;

impl Entry {
    /// The bytes of this entry; none where its key or value is longer than a length field says.
    pub(crate) fn encode(&self, checksums: Checksums) -> Option<Vec<u8>> {
        let (kind, key, value) = match self {
            Self::Put { key, value } => (PUT, key, value.as_slice()),
            Self::Delete { key } => (DELETE, key, &[][..]),
        };
        let mut bytes = vec![0; 4];
        bytes.push(kind);
        bytes.extend(u16::try_from(key.len()).ok()?.to_le_bytes());
        bytes.extend(u32::try_from(value.len()).ok()?.to_le_bytes());
        bytes.extend(key);
        bytes.extend(value);
        if checksums == Checksums::On {
            let checksum = crc32(&bytes[4..]);
            bytes[..4].copy_from_slice(&checksum.to_le_bytes());
        }
        Some(bytes)
    }

    /// How many bytes an entry with this header has in all.
    pub(crate) fn total_len(header: &[u8; HEADER_BYTES]) -> u64 {
        let (key_len, value_len) = lengths(header);
        HEADER_BYTES as u64 + u64::from(key_len) + u64::from(value_len)
    }

    /// The entry that `bytes` are, all of them; none where they are none.
    pub(crate) fn decode(bytes: &[u8], checksums: Checksums) -> Option<Self> {
        let header: &[u8; HEADER_BYTES] = bytes.first_chunk()?;
        if Self::total_len(header) != bytes.len() as u64 {
            return None;
        }
        let checksum = u32::from_le_bytes(*header.first_chunk()?);
        if checksums == Checksums::On && checksum != crc32(&bytes[4..]) {
            return None;
        }
        let (key, value) = bytes[HEADER_BYTES..].split_at(lengths(header).0.into());
        match header[4] {
            PUT => Some(Self::Put { key: key.to_vec(), value: value.to_vec() }),
            DELETE => Some(Self::Delete { key: key.to_vec() }),
            _ => None,
        }
    }
}

fn lengths(header: &[u8; HEADER_BYTES]) -> (u16, u32) {
    let [_, _, _, _, _, k0, k1, v0, v1, v2, v3] = *header;
    (u16::from_le_bytes([k0, k1]), u32::from_le_bytes([v0, v1, v2, v3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put() -> Entry {
        Entry::Put { key: b"key".to_vec(), value: b"value".to_vec() }
    }

    #[test]
    fn entries_come_back() {
        for entry in [put(), Entry::Delete { key: Vec::new() }] {
            for checksums in [Checksums::On, Checksums::Off] {
                let bytes = entry.encode(checksums).unwrap();
                assert_eq!(Entry::decode(&bytes, checksums), Some(entry.clone()));
            }
        }
    }

    #[test]
    fn a_checksum_tells_every_changed_byte() {
        let good = put().encode(Checksums::On).unwrap();
        for at in 0..good.len() {
            for flip in 1..=u8::MAX {
                let mut bad = good.clone();
                bad[at] ^= flip;
                assert_eq!(Entry::decode(&bad, Checksums::On), None);
            }
        }
    }

    #[test]
    fn zeros_are_no_entry() {
        assert_eq!(Entry::decode(&[0; HEADER_BYTES], Checksums::Off), None);
        assert_eq!(Entry::decode(&[0; HEADER_BYTES], Checksums::On), None);
    }

    #[test]
    fn a_key_too_long_for_its_field_has_no_bytes() {
        assert_eq!(Entry::Delete { key: vec![0; 1 << 16] }.encode(Checksums::On), None);
    }
}
