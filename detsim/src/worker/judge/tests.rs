//! A table of endings and the verdicts on them.

use expect_test::{Expect, expect};

use super::*;
use crate::worker::protocol::RanHead;

/// A wait status: the exit code, or the signal.
fn exited(code: i32) -> i32 {
    code << 8
}

fn ran(status: i32, record: &[u8], output: &str) -> Ran {
    let head = RanHead { status, ..RanHead::default() };
    Ran {
        head,
        note: Vec::new(),
        record: record.to_vec(),
        output: output.as_bytes().to_vec(),
        ..Ran::default()
    }
}

fn passed() -> Vec<u8> {
    Record::encode_ended(&RunOutcome::PASS, 4096)
}

fn check(ran: &Ran, expected: Expect) {
    let Verdict::Fail(failed) = judge(ran).verdict else { panic!("must fail: {ran:?}") };
    expected.assert_eq(&format!("{}\n{}", failed.signature, failed.report));
}

#[test]
fn a_run_passes_by_its_record_and_its_exit() {
    assert_eq!(judge(&ran(exited(0), &passed(), "")), RunOutcome::PASS);
    check(
        &ran(libc::SIGABRT, &passed(), ""),
        expect![[r#"
            crash of the process: the process ended with signal 6 (SIGABRT: abort)
            the process ended with signal 6 (SIGABRT: abort)"#]],
    );
}

#[test]
fn no_record_is_a_failure_whatever_the_status() {
    check(
        &ran(exited(0), &[], ""),
        expect![[r#"
            crash of the process: the process ended with exit code 0 inside the test
            the process ended with exit code 0 inside the test"#]],
    );
    check(
        &ran(exited(7), &[], ""),
        expect![[r#"
            crash of the process: the process ended with exit code 7 inside the test
            the process ended with exit code 7 inside the test"#]],
    );
}

#[test]
fn signals_are_named_with_their_cause() {
    check(
        &ran(libc::SIGABRT, &[], "thread 'a' has overflowed its stack\nfatal runtime error"),
        expect![[r#"
            crash of the process: stack overflow; the process ended with signal 6 (SIGABRT: abort)
            stack overflow; the process ended with signal 6 (SIGABRT: abort)"#]],
    );
    check(
        &ran(libc::SIGABRT, &[], "memory allocation of 4294967296 bytes failed"),
        expect![[r#"
            crash of the process: out of memory; the process ended with signal 6 (SIGABRT: abort)
            out of memory; the process ended with signal 6 (SIGABRT: abort)"#]],
    );
    check(
        &ran(62, &[], ""),
        expect![[r#"
            crash of the process: the process ended with signal 62
            the process ended with signal 62"#]],
    );
}

#[test]
fn a_crash_names_the_last_panic() {
    let note = Note { site: "src/a.rs:3".to_owned(), message: "boom 7".to_owned() };
    check(
        &Ran { note: note.encode(4096), ..ran(libc::SIGABRT, &[], "") },
        expect![[r#"
            crash of the process: the process ended with signal 6 (SIGABRT: abort) after a panic at src/a.rs:3
            the process ended with signal 6 (SIGABRT: abort), after a panic at src/a.rs:3:
            boom 7"#]],
    );
}

#[test]
fn the_watchdog_tells_spinning_from_hanging() {
    let stuck = |busy, task: &str| {
        [&Record::encode_stuck(42, busy, 1500, task.len())[..], task.as_bytes()].concat()
    };
    check(
        &ran(exited(0), &stuck(990, "task 17 \"miner\""), ""),
        expect![[r#"
            limit reached: task # "miner" spins
            task 17 "miner" spins: no step for 1.500 s of wall time after step 42, with the processor 99% busy; it computes without end or waits for the real world inside one poll; let it await, or raise the limit on one poll"#]],
    );
    check(
        &ran(exited(0), &stuck(3, ""), ""),
        expect![[r#"
            limit reached: the test hangs
            the test hangs: no step for 1.500 s of wall time after step 42, with the processor 0% busy; it computes without end or waits for the real world inside one poll; let it await, or raise the limit on one poll"#]],
    );
}

#[test]
fn a_broken_record_is_detsims_own_failure() {
    check(
        &ran(exited(0), &passed()[..9], ""),
        expect![[r#"
            harness error: the run's record is broken: length differs from what the frame says
            detsim could not run it: the run's record is broken: length differs from what the frame says"#]],
    );
}
