//! The file: what is written is read, and whatever is read is told apart.

use detsim_executor::rng::Stream;
use detsim_executor::{Sim, SimConfig};
use detsim_net::Network;
use expect_test::{Expect, expect};

use super::sample::{header, long, story};
use super::*;
use crate::wall::Stopwatch;

fn check_error(bytes: &[u8], expect: Expect) -> Error {
    let error = from_bytes(bytes).unwrap_err();
    expect.assert_eq(&error.to_string());
    error
}

#[test]
fn what_is_written_is_read() {
    for trace in [story(false), story(true), long(20_000), Trace::default()] {
        let bytes = to_bytes(&trace, &header());
        let recorded = from_bytes(&bytes).unwrap();
        assert_eq!((recorded.header, &recorded.trace), (header(), &trace));
        assert_eq!(to_bytes(&recorded.trace, &header()), bytes);
    }
}

/// A recorded run over a network with faults, and its trace.
fn recorded(seed: u64) -> Trace {
    let mut config = SimConfig::default();
    config.record = true;
    let sim = Sim::with_config(seed, config);
    let network = Network::<u64>::new(&sim);
    let [a, b] = ["a", "b"].map(|name| sim.node(name).id());
    let answers = network.clone();
    network.register(b, move |from, n| answers.send(b, from, n + 1));
    network.register(a, |_, _| {});
    network.set_drop_rate(0.2);
    for n in 0..20 {
        let network = network.clone();
        drop(sim.node("a").spawn(format!("sender-{n}"), async move { network.send(a, b, n) }));
    }
    sim.run().unwrap();
    sim.trace()
}

#[test]
fn the_trace_of_a_run_keeps_its_text() {
    let trace = recorded(3);
    let back = from_bytes(&to_bytes(&trace, &header())).unwrap().trace;
    assert_eq!(back.to_string(), trace.to_string());
    assert_eq!(recorded(3), trace);
    assert_ne!(recorded(4), trace);
    let kinds: Vec<EventKind> = trace.moments.iter().map(|m| m.event.kind()).collect();
    assert!(kinds.contains(&EventKind::Chose) && kinds.contains(&EventKind::Net), "{kinds:?}");
}

#[test]
fn a_trace_goes_through_a_file_and_a_directory() {
    let folder = std::env::temp_dir().join(format!("detsim-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let trace = story(false);
    write(&trace, &header(), &folder.join(FILE)).unwrap();
    assert_eq!(read(&folder).unwrap(), read(&folder.join(FILE)).unwrap());
    assert_eq!(read(&folder).unwrap().trace, trace);
    let missing = read(&folder.join("none")).unwrap_err();
    assert!(missing.to_string().contains("none cannot be read: "), "{missing}");
    std::fs::write(folder.join(FILE), "text").unwrap();
    let foreign = read(&folder).unwrap_err();
    assert!(foreign.is_foreign() && foreign.to_string().contains(FILE), "{foreign}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn broken_files_are_told_apart() {
    let whole = to_bytes(&story(true), &header());
    let foreign = expect![
        "the trace is no trace of detsim: it does not begin as one; name the directory of a failing run, or the trace.bin in it"
    ];
    assert!(check_error(b"\x7fELF\x02\x01\x01", foreign).is_foreign());
    let empty = expect![
        "the trace is no trace of detsim: it does not begin as one; name the directory of a failing run, or the trace.bin in it"
    ];
    check_error(b"", empty);
    let start = expect![
        "the trace is cut short: 5 of its 27 bytes are there; run its seed again to write a new one"
    ];
    assert!(check_error(&whole[..5], start).is_damaged());
    let short = expect![
        "the trace is cut short: 394 of its 395 bytes are there; run its seed again to write a new one"
    ];
    assert!(check_error(&whole[..whole.len() - 1], short).is_damaged());
    let long = expect![
        "the trace is damaged: more bytes follow its end; run its seed again to write a new one"
    ];
    check_error(&[&whole[..], b"\n"].concat(), long);
    let mut changed = whole;
    *changed.last_mut().unwrap() ^= 1;
    let sum = expect![
        "the trace is damaged: its checksum does not match its bytes; run its seed again to write a new one"
    ];
    assert!(check_error(&changed, sum).is_damaged());
}

#[test]
fn a_newer_file_names_the_version_it_needs() {
    let mut bytes = frame::wrap("0.9.0", b"whatever a later detsim writes");
    bytes[8] = 2;
    let error = from_bytes(&bytes).unwrap_err();
    assert!(error.is_newer());
    let version = env!("CARGO_PKG_VERSION");
    let text = format!(
        "the trace is in format 2 of detsim 0.9.0; this is detsim {version}, which reads formats \
         up to 1: use detsim 0.9.0 or a later one"
    );
    assert_eq!(error.to_string(), text);
}

/// The bytes before the body.
fn head_bytes() -> usize {
    framed(&[]).len()
}

#[test]
fn no_body_makes_the_decoder_panic() {
    let whole = to_bytes(&story(false), &header());
    let body = &whole[head_bytes()..];
    assert!(from_bytes(&framed(body)).is_ok());
    let mut stream = Stream::new(1);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..100_000 {
        let mut mutant = body.to_vec();
        for _ in 0..=stream.below(3) {
            mutate(&mut mutant, &mut stream);
        }
        match from_bytes(&framed(&mutant)) {
            // Whatever came out can be shown.
            Ok(recorded) => {
                read += 1;
                if read % 16 == 0 {
                    assert!(recorded.trace.to_string().lines().count() < 1_000);
                }
            }
            Err(error) => {
                assert!(error.is_damaged(), "{error}");
                refused += 1;
            }
        }
    }
    assert!(read > 1_000 && refused > 1_000, "{read} read, {refused} refused");
}

fn mutate(bytes: &mut Vec<u8>, stream: &mut Stream) {
    let at = stream.below(bytes.len() as u64) as usize;
    match stream.below(4) {
        0 => bytes[at] = stream.word() as u8,
        1 => bytes[at] ^= 1 << stream.below(8),
        2 => bytes.truncate(at.max(1)),
        _ => bytes.insert(at, [0, 250, 251, 253, 255][stream.below(5) as usize]),
    }
}

#[test]
fn heads_are_as_safe_as_bodies() {
    let whole = to_bytes(&story(true), &header());
    let mut stream = Stream::new(2);
    for _ in 0..20_000 {
        let mut mutant = whole[..whole.len().min(60)].to_vec();
        mutate(&mut mutant, &mut stream);
        assert!(from_bytes(&mutant).is_err());
    }
}

#[test]
fn an_event_takes_few_bytes() {
    let trace = long(100_000);
    let bytes = to_bytes(&trace, &header()).len() - head_bytes();
    let mean = bytes / trace.moments.len();
    assert!(mean <= 12, "{mean} bytes an event");
}

#[test]
#[ignore = "prints how long a million events take to read, show and count"]
#[expect(clippy::print_stdout, reason = "figures for people")]
fn prints_the_cost_of_a_million_events() {
    let recorded = Recorded { header: header(), trace: long(1_000_000) };
    let bytes = to_bytes(&recorded.trace, &recorded.header);
    let watch = Stopwatch::start();
    let read = from_bytes(&bytes).unwrap();
    let page = view(&read, &ViewOptions::default());
    let shown = watch.elapsed();
    let watch = Stopwatch::start();
    let counts = stats(&read, &StatsOptions::default());
    let counted = watch.elapsed();
    assert!(page.contains(" more; go on with: --from ") && counts.contains("100000"), "{counts}");
    let mean = bytes.len() as f64 / recorded.trace.moments.len() as f64;
    println!("first page {shown:.2?}, stats {counted:.2?}, {mean:.1} bytes an event");
}
