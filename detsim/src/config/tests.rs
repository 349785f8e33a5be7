//! Tables: what every variable accepts, and the words in which it refuses.

use expect_test::{Expect, expect};

use super::*;

/// The configuration that these variables give, and what a refusal says.
fn config(vars: &[(&str, &str)]) -> Result<Config, String> {
    let read = |name: &str| {
        Ok(vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    };
    Config::from_reader(&read).map_err(|bad| bad.to_string())
}

fn refuses(vars: &[(&str, &str)], expected: Expect) {
    let message = config(vars).expect_err("a bad value must be refused");
    expected.assert_eq(&message);
}

#[test]
fn nothing_set_means_nothing_said() {
    assert_eq!(config(&[]), Ok(Config::default()));
}

#[test]
fn seeds_are_decimal_or_hexadecimal() {
    for (text, seed) in [("0", 0), ("18446744073709551615", u64::MAX), ("0xff", 255), (" 7 ", 7)] {
        assert_eq!(config(&[(SEED, text)]).unwrap().seed, Some(seed), "{text}");
    }
    for text in ["abc", "-1", "1.5", "18446744073709551616", "0x", "1_000", "1..2"] {
        assert!(config(&[(SEED, text)]).is_err(), "{text}");
    }
}

#[test]
fn a_sweep_is_a_count_or_a_range() {
    for (text, seeds) in [
        ("1", Seeds::Count(1)),
        ("5000", Seeds::Count(5000)),
        ("0..3", Seeds::Range(0..3)),
        ("0x10..0x20", Seeds::Range(16..32)),
    ] {
        assert_eq!(config(&[(SEEDS, text)]).unwrap().seeds, Some(seeds), "{text}");
    }
    for text in ["0", "3..3", "4..3", "..3", "3..", "3..=4", "many"] {
        assert!(config(&[(SEEDS, text)]).is_err(), "{text}");
    }
}

#[test]
fn budgets_have_a_unit() {
    for (text, ms) in [("300s", 300_000), ("5m", 300_000), ("1h", 3_600_000), ("20ms", 20)] {
        let budget = config(&[(BUDGET, text)]).unwrap().budget;
        assert_eq!(budget, Some(Duration::from_millis(ms)), "{text}");
    }
    for text in ["300", "0s", "s", "5 m", "1d", "99999999999999999h"] {
        assert!(config(&[(BUDGET, text)]).is_err(), "{text}");
    }
}

#[test]
fn the_rest_is_checked_too() {
    assert_eq!(config(&[(JOBS, "3")]).unwrap().jobs, NonZeroUsize::new(3));
    assert_eq!(config(&[(STRATEGY, "fifo")]).unwrap().strategy.as_deref(), Some("fifo"));
    assert!(config(&[(IN_PROCESS, "1")]).unwrap().in_process);
    assert!(!config(&[(IN_PROCESS, "0")]).unwrap().in_process);
    assert_eq!(
        config(&[(LOG, "info,tokio=warn")]).unwrap().log.as_deref(),
        Some("info,tokio=warn")
    );
    let link = WorkerLink { version: 1, fd: 200 };
    assert_eq!(config(&[(WORKER, "1:200")]).unwrap().worker, Some(link));
    for (name, text) in [
        (JOBS, "0"),
        (STRATEGY, "fastest"),
        (IN_PROCESS, "yes"),
        (LOG, "a=b=c"),
        (WORKER, "1:-3"),
        (WORKER, "200"),
    ] {
        assert!(config(&[(name, text)]).is_err(), "{name}={text}");
    }
}

#[test]
fn a_refusal_names_variable_value_and_what_is_allowed() {
    refuses(
        &[(SEED, "abc")],
        expect![
            "detsim: DETSIM_SEED=abc cannot be used; allowed: a whole number from 0 to \
             18446744073709551615, or the same in hexadecimal after 0x"
        ],
    );
    refuses(
        &[(SEEDS, "9..3")],
        expect![
            "detsim: DETSIM_SEEDS=9..3 cannot be used; allowed: a count of at least 1, or a \
             range a..b with a below b"
        ],
    );
    refuses(
        &[(BUDGET, "soon")],
        expect![
            "detsim: DETSIM_BUDGET=soon cannot be used; allowed: a time such as 90s, 5m, 1h or 500ms"
        ],
    );
}

#[test]
fn a_base_beside_a_range_would_go_unheard() {
    assert_eq!(config(&[(SEEDS, "10"), (SEED_BASE, "7")]).unwrap().seed_base, Some(7));
    refuses(
        &[(SEEDS, "1..3"), (SEED_BASE, "7")],
        expect![
            "detsim: DETSIM_SEED_BASE=7 cannot be used; allowed: only beside a count: \
             DETSIM_SEEDS=a..b names its own first seed"
        ],
    );
}

#[test]
fn every_strategy_of_the_kernel_is_named_as_allowed() {
    for (name, _) in detsim_executor::Strategy::ALL {
        assert!(parse::STRATEGY_ALLOWED.contains(name), "{name}");
        assert!(config(&[(STRATEGY, name)]).is_ok(), "{name}");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let read = |name: &str| if name == OUT { Err("\u{fffd}".to_owned()) } else { Ok(None) };
    let message = Config::from_reader(&read).unwrap_err().to_string();
    assert_eq!(message, "detsim: DETSIM_OUT=\u{fffd} cannot be used; allowed: a directory");
}
