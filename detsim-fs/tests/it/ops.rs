//! Random sequences of calls, shared by the tests. Owns no expectation.

use detsim_executor::Stream;
use detsim_fs::FaultyStorage;

/// One call on a disk.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Write { offset: u64, bytes: Vec<u8> },
    Read { offset: u64, len: usize },
    Sync,
    Crash,
}

/// A sequence over a disk of about `span` bytes: writes that overlap, repeat, leave gaps and
/// straddle sectors.
pub(crate) fn sequence(stream: &mut Stream, len: usize, span: u64) -> Vec<Op> {
    (0..len).map(|_| op(stream, span)).collect()
}

fn op(stream: &mut Stream, span: u64) -> Op {
    let offset = stream.below(span);
    match stream.below(20) {
        0..10 => Op::Write { offset, bytes: bytes(stream, span) },
        10..16 => Op::Read { offset, len: stream.below(span) as usize },
        16..19 => Op::Sync,
        _ => Op::Crash,
    }
}

/// Mostly short, now and then long, rarely nothing.
fn bytes(stream: &mut Stream, span: u64) -> Vec<u8> {
    let bound = if stream.below(4) == 0 { span / 2 } else { 24 };
    let mut bytes = vec![0; stream.below(bound) as usize];
    stream.fill(&mut bytes);
    bytes
}

/// Everything a reader sees.
pub(crate) fn contents(disk: &FaultyStorage) -> Vec<u8> {
    let mut buf = vec![0; disk.size() as usize];
    assert_eq!(disk.read_at(0, &mut buf).unwrap(), buf.len());
    buf
}
