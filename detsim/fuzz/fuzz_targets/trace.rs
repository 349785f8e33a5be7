//! Any bytes are a trace or an error, as a file and behind a right checksum, and any trace can be
//! shown: `cargo +nightly fuzz run trace` in `detsim`.
#![no_main]

use detsim::trace::{
    self, DiffOptions, ExportOptions, Format, Recorded, StatsOptions, ViewOptions,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for file in [bytes, &trace::framed(bytes)] {
        match trace::from_bytes(file) {
            Ok(recorded) => show(&recorded),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
});

/// What was read is written the same, and no renderer minds what it says.
fn show(recorded: &Recorded) {
    let bytes = trace::to_bytes(&recorded.trace, &recorded.header);
    let again = trace::from_bytes(&bytes).expect("what was written is read");
    assert_eq!(&again, recorded);
    let page = trace::view(recorded, &ViewOptions::default());
    assert!(page.lines().all(|line| line.chars().count() <= 100));
    trace::stats(recorded, &StatsOptions::default());
    trace::diff(recorded, &again, &DiffOptions::default());
    for format in [Format::Json, Format::Perfetto, Format::Html] {
        let mut options = ExportOptions::default();
        options.format = format;
        trace::export(recorded, &options);
    }
    trace::pcap(recorded);
}
