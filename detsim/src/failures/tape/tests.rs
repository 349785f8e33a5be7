//! A tape survives the trip to the disk, and nothing else is taken for one.

use super::*;
use detsim_executor::{Anchor, Stream};
use expect_test::{Expect, expect};

fn tape() -> Tape {
    let choice = |n: u64| Choice {
        domain: 7,
        anchor: Anchor { actor: n, ordinal: 3 },
        occurrence: 0,
        picked: n,
        default: 0,
    };
    Tape {
        detsim: "0.1.0".to_owned(),
        test: "pool::drains".to_owned(),
        seed: 847_291,
        strategy: None,
        signature: "deadlock src/pool.rs:88".to_owned(),
        hash: RunHash { shape: 1, order: 2 },
        domains: vec![(7, "net/a/b".to_owned())],
        choices: (1..20).map(choice).collect(),
    }
}

fn check(bytes: &[u8], expected: Expect) {
    let why = Tape::from_bytes(bytes).expect_err("must be refused");
    expected.assert_eq(&Unreadable { path: "choices.bin".into(), why }.to_string());
}

#[test]
fn a_tape_survives_the_trip() {
    let directory = std::env::temp_dir().join(format!("detsim-tape-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("choices.bin");
    tape().write(&path).unwrap();
    assert_eq!(Tape::read(&path).unwrap(), tape());
    assert_eq!(fs::read(&path).unwrap(), tape().to_bytes(), "equal tapes have equal bytes");
    assert!(Tape::read(&directory.join("none.bin")).is_err());
    let endless = Tape::read("/dev/zero".as_ref()).expect_err("it is no tape");
    assert!(endless.to_string().contains("it is no file of choices"), "{endless}");
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_is_no_tape_is_refused_with_what_to_do() {
    let good = tape().to_bytes();
    check(
        b"hello",
        expect![
            "detsim: choices.bin cannot be replayed: it is no file of choices; name the directory \
             of a failing run"
        ],
    );
    check(
        &good[..10],
        expect![
            "detsim: choices.bin cannot be replayed: it is cut short; run its seed again to write a \
             new one"
        ],
    );
    let newer = [&good[..8], &2_u32.to_le_bytes(), &good[12..]].concat();
    check(
        &newer,
        expect![
            "detsim: choices.bin cannot be replayed: a later detsim wrote it (format 2, and this \
             one reads up to 1); use that version, or run its seed again"
        ],
    );
    let mut damaged = good.clone();
    damaged[40] ^= 1;
    check(
        &damaged,
        expect![
            "detsim: choices.bin cannot be replayed: its bytes are not what was written; run its \
             seed again to write a new one"
        ],
    );
}

#[test]
fn no_bytes_do_harm() {
    let good = tape().to_bytes();
    for cut in 0..good.len() {
        assert!(Tape::from_bytes(&good[..cut]).is_err(), "{cut} bytes");
    }
    let mut words = Stream::new(3);
    for _ in 0..2_000 {
        let mut flipped = good.clone();
        let at = words.below(flipped.len() as u64) as usize;
        flipped[at] ^= 1 << words.below(8);
        assert!(Tape::from_bytes(&flipped).is_err(), "byte {at}");
    }
    for length in 0..200 {
        let noise: Vec<u8> = (0..length).map(|_| words.below(256) as u8).collect();
        // Past the checksum, too: the body itself must do no harm.
        let _any = decode::<Tape>(&noise);
        assert!(Tape::from_bytes(&noise).is_err());
    }
}
