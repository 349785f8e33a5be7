//! Calls as cargo makes them, and what becomes of them.

use super::*;
use crate::kernel::Kernel;
use expect_test::{Expect, expect};

const TOKIO: &str = "/registry/tokio-1.54.1/src/lib.rs";

const CALL: &str = r#"--crate-name tokio --edition=2021 /registry/tokio-1.54.1/src/lib.rs
    --error-format=json --json=diagnostic-rendered-ansi,artifacts,future-incompat
    --crate-type lib --emit=dep-info,metadata,link -C embed-bitcode=no -C debuginfo=2
    --cfg feature="macros" --cfg feature="sync" -C metadata=12 -C extra-filename=-34
    --out-dir /target/deps --target x86_64-unknown-linux-gnu -L dependency=/target/deps
    --extern pin_project_lite=/target/deps/libpin_project_lite-56.rmeta --cap-lints allow"#;

fn call(text: &str) -> Invocation {
    Invocation::new(text.split_whitespace().map(OsString::from).collect())
}

fn plan() -> Plan {
    let externs = vec![("detsim".to_owned(), PathBuf::from("/kernel/libdetsim.rlib"))];
    let kernel = Kernel { externs, search: vec!["/kernel/deps".into(), "/kernel/host".into()] };
    Plan { tokio: vec![TOKIO.into()], shim: "/detsim/shim/src/lib.rs".into(), kernel }
}

/// The words that `after` has and the original does not, behind `+`; and the other way, behind `-`.
fn check(after: Invocation, expect: Expect) {
    let (before, after) = (call(CALL).into_args(), after.into_args());
    let lines = |mark: char, these: &[OsString], those: &[OsString]| {
        let only = these.iter().filter(|word| !those.contains(word));
        only.map(|word| format!("{mark} {}\n", word.display())).collect::<String>()
    };
    expect.assert_eq(&(lines('-', &before, &after) + &lines('+', &after, &before)));
}

#[test]
fn the_real_tokio_keeps_everything_but_its_name() {
    check(
        call(CALL).real(),
        expect![[r#"
            - tokio
            - --json=diagnostic-rendered-ansi,artifacts,future-incompat
            + tokio_real
            + --json=diagnostic-rendered-ansi,future-incompat
            + feature="rt"
            + feature="time"
        "#]],
    );
}

#[test]
fn the_shim_takes_the_name_the_features_and_the_place() {
    check(
        call(CALL).shim(Path::new(TOKIO), &plan()),
        expect![[r#"
            - --edition=2021
            - /registry/tokio-1.54.1/src/lib.rs
            + --edition=2024
            + /detsim/shim/src/lib.rs
            + detsim
            + detsim="graph"
            + --check-cfg
            + cfg(detsim, values(none(), "graph"))
            + -Copt-level=3
            + tokio=/target/deps/libtokio_real-34.rlib
            + detsim=/kernel/libdetsim.rlib
            + dependency=/kernel/deps
            + dependency=/kernel/host
        "#]],
    );
}

#[test]
fn a_check_stands_on_metadata() {
    let checked = call(&CALL.replace(",link", ""));
    assert_eq!(checked.real_file(), Path::new("/target/deps/libtokio_real-34.rmeta"));
}

#[test]
fn only_what_names_a_target_is_for_it() {
    assert!(call(CALL).is_for_target());
    assert!(call("--crate-name a --target=t").is_for_target());
    assert!(!call("--crate-name build_script_build build.rs --edition=2021").is_for_target());
    assert!(!call("-vV").is_for_target());
}

#[test]
fn tokio_is_known_by_its_root_and_not_by_its_name() {
    assert!(call(CALL).compiles(Path::new(TOKIO)));
    assert!(!call(CALL).compiles(Path::new("/registry/tokio-1.50.0/src/lib.rs")));
    assert!(!call("--crate-name tokio src/lib.rs").compiles(Path::new(TOKIO)));
}
