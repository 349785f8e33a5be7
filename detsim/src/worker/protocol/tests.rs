//! Every message survives the trip; no cut, flipped or random bytes do harm.

use detsim_executor::Stream;

use super::*;

fn outcome() -> RunOutcome {
    let failed = Failed {
        kind: Kind::Deadlock,
        signature: "deadlock at src/pool.rs:88".to_owned(),
        report: "two tasks wait for each other: \u{2192}".to_owned(),
    };
    let verdict = Verdict::Fail(failed);
    RunOutcome { verdict, hash: 1, steps: 2, events: 3, sim_time_ns: 4, recording: None }
}

fn ran() -> (Ran, Vec<u8>) {
    let note = Note { site: "src/a.rs:3".to_owned(), message: "boom".to_owned() }.encode(4096);
    let record = Record::encode_ended(&outcome(), 4096);
    let (recording, output) = (b"choices".to_vec(), b"hello".to_vec());
    let head = RanHead {
        seed: 9,
        status: -1,
        busy_ns: 8,
        note_bytes: note.len() as u32,
        record_bytes: record.len() as u32,
        recording_bytes: recording.len() as u32,
        output_bytes: output.len() as u32,
    };
    let frame = [&head.encode()[..], &note, &record, &recording, &output].concat();
    (Ran { head, note, record, recording, output }, frame)
}

/// One frame of each kind.
fn frames() -> Vec<Vec<u8>> {
    let stuck = [&Record::encode_stuck(5, 900, 10_000, 4)[..], b"task"].concat();
    vec![request().encode().to_vec(), hello().encode().to_vec(), ran().1, stuck]
}

fn request() -> Request {
    Request {
        mode: Mode::InProcess,
        outputs: Outputs::All,
        keeps: Keeps::All,
        set_bytes: Some(77),
        first: u64::MAX,
        count: 3,
    }
}

fn hello() -> Hello {
    Hello { thread: 4_000_000, addresses_repeat: true, test: 11 }
}

/// Tries every decoder; none may panic.
fn decode_all(bytes: &[u8]) -> usize {
    [
        Request::decode(bytes).is_ok(),
        Hello::decode(bytes).is_ok(),
        Ran::decode(bytes).is_ok(),
        Record::decode(bytes).is_ok(),
        Note::decode(bytes).is_ok(),
    ]
    .into_iter()
    .filter(|decoded| *decoded)
    .count()
}

#[test]
fn messages_survive_the_trip() {
    assert_eq!(Request::decode(&request().encode()), Ok(request()));
    assert_eq!(Hello::decode(&hello().encode()), Ok(hello()));
    let (ran, frame) = ran();
    assert_eq!(Ran::decode(&frame).as_ref(), Ok(&ran));
    assert_eq!(Record::decode(&ran.record), Ok(Record::Ended(outcome())));
    let passed = Record::encode_ended(&RunOutcome::PASS, 4096);
    assert_eq!(Record::decode(&passed), Ok(Record::Ended(RunOutcome::PASS)));
    assert!(Record::is_pass(&passed));
    assert!(!Record::is_pass(&ran.record) && !Record::is_pass(&[]));
    let note = Note { site: "src/a.rs:3".to_owned(), message: "boom".to_owned() };
    assert_eq!(Note::decode(&ran.note), Ok(note));
}

#[test]
fn what_the_signal_handler_writes_is_read() {
    let bytes = [&Record::encode_stuck(5, 900, 10_000, 7)[..], b"spinner"].concat();
    let stuck = Stuck { steps: 5, busy_permille: 900, wall_ms: 10_000, task: "spinner".to_owned() };
    assert_eq!(Record::decode(&bytes), Ok(Record::Stuck(stuck)));
}

#[test]
fn each_frame_is_of_one_kind() {
    for frame in frames() {
        assert_eq!(decode_all(&frame), 1, "{frame:?}");
    }
}

#[test]
fn a_cut_frame_is_malformed() {
    for frame in frames() {
        for cut in 0..frame.len() {
            assert_eq!(decode_all(&frame[..cut]), 0, "cut at {cut}: {frame:?}");
        }
        assert_eq!(decode_all(&[&frame[..], b"x"].concat()), 0, "one byte more: {frame:?}");
    }
}

#[test]
fn another_version_is_named() {
    let mut frame = request().encode();
    frame[4] = 99;
    assert_eq!(Request::decode(&frame), Err(Malformed("another version of the protocol")));
}

#[test]
fn garbage_does_no_harm() {
    let mut words = Stream::new(1);
    for frame in frames() {
        for _ in 0..2_000 {
            let mut bytes = frame.clone();
            let at = words.below(bytes.len() as u64) as usize;
            bytes[at] = words.word() as u8;
            decode_all(&bytes);
        }
    }
    for length in 0..200 {
        let mut bytes = vec![0; length];
        words.fill(&mut bytes);
        assert_eq!(decode_all(&bytes), 0);
    }
}

#[test]
fn a_report_that_does_not_fit_is_cut_at_a_character() {
    for bytes_max in 60..160 {
        let bytes = Record::encode_ended(&outcome(), bytes_max);
        assert!(bytes.len() <= bytes_max.max(HEAD_BYTES + 1 + 32 + 8), "{bytes_max}");
        assert!(matches!(Record::decode(&bytes), Ok(Record::Ended(_))), "{bytes_max}");
    }
}
