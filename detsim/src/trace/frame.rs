//! What stands before the body of a trace's file, the same in every format to come.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 2 | the format of the body |
//! | 1, then as many as it says | the version of detsim that wrote it |
//! | 8 | the length of the body |
//! | 8 | the checksum of the body |
//!
//! Numbers are little-endian. Owns: this head. Does not own: the body. Invariants: what a later
//! detsim wrote is told apart from what is damaged; no byte of the body is looked at before its
//! checksum is right.

use detsim_executor::rng::fold;

use super::error::Error;

/// How every trace begins; the last byte finds transfers that take the file for text.
pub(super) const MAGIC: [u8; 8] = *b"DETSIM\x00\n";

/// The format that is written, and the latest that can be read.
pub(super) const FORMAT: u16 = 1;

#[derive(Debug)]
pub(super) struct Framed<'a> {
    pub(super) detsim: &'a str,
    pub(super) body: &'a [u8],
}

/// A body with its head.
pub(super) fn wrap(detsim: &str, body: &[u8]) -> Vec<u8> {
    let detsim = &detsim.as_bytes()[..detsim.len().min(usize::from(u8::MAX))];
    let mut bytes = MAGIC.to_vec();
    bytes.extend(FORMAT.to_le_bytes());
    bytes.push(detsim.len() as u8);
    bytes.extend(detsim);
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(checksum(body).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// Whether this is how a trace begins.
pub(super) fn check_magic(bytes: &[u8]) -> Result<(), Error> {
    if bytes.starts_with(&MAGIC) {
        return Ok(());
    }
    match !bytes.is_empty() && MAGIC.starts_with(bytes) {
        true => Err(Error::truncated(bytes.len() as u64, HEAD_BYTES_MIN)),
        false => Err(Error::foreign()),
    }
}

/// The shortest head there is.
const HEAD_BYTES_MIN: u64 = MAGIC.len() as u64 + 2 + 1 + 8 + 8;

/// The body of a file in a format that is known, whole and as it was written.
pub(super) fn unwrap(bytes: &[u8]) -> Result<Framed<'_>, Error> {
    check_magic(bytes)?;
    let mut rest = &bytes[MAGIC.len()..];
    let short = || Error::truncated(bytes.len() as u64, HEAD_BYTES_MIN.max(bytes.len() as u64 + 1));
    let mut take = |count: usize| {
        let (taken, after) = rest.split_at_checked(count).ok_or_else(short)?;
        rest = after;
        Ok::<_, Error>(taken)
    };
    let format = u16::from_le_bytes(array(take(2)?));
    let version_bytes = usize::from(take(1)?[0]);
    let detsim = std::str::from_utf8(take(version_bytes)?).unwrap_or("?");
    match format {
        0 => return Err(Error::damaged("there is no format 0")),
        1..=FORMAT => {}
        _ => return Err(Error::newer(format, detsim, FORMAT)),
    }
    let (length, sum) = (u64::from_le_bytes(array(take(8)?)), u64::from_le_bytes(array(take(8)?)));
    let have = rest.len() as u64;
    if have < length {
        let head = (bytes.len() - rest.len()) as u64;
        return Err(Error::truncated(bytes.len() as u64, head.saturating_add(length)));
    }
    if have > length {
        return Err(Error::damaged("more bytes follow its end"));
    }
    if checksum(rest) != sum {
        return Err(Error::damaged("its checksum does not match its bytes"));
    }
    Ok(Framed { detsim, body: rest })
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("invariant: as many bytes were taken")
}

/// Eight bytes at a time: a trace has millions.
fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum =
        words.iter().fold(bytes.len() as u64, |sum, word| fold(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, byte| fold(sum, u64::from(*byte) + 1))
}
