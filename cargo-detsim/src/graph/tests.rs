//! What is written for cargo to find, and when tokio is built anew, in a directory of the test's.

use super::*;

/// A directory of one test's own, empty when it starts.
fn scratch(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("detsim-graph-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn plan(dir: &Path) -> Plan {
    let (shim, kernel) = (dir.join("shim/src"), dir.join("kernel.rlib"));
    fs::create_dir_all(shim.join("sync")).unwrap();
    for file in [shim.join("lib.rs"), shim.join("sync/mutex.rs"), kernel.clone()] {
        fs::write(file, "").unwrap();
    }
    Plan {
        tokio: vec!["/registry/tokio-1.54.1/src/lib.rs".into()],
        shim: shim.join("lib.rs"),
        kernel: Kernel { externs: vec![("detsim".into(), kernel)], search: vec![dir.into()] },
    }
}

/// What cargo leaves behind of a crate that it built.
fn built(dir: &Path, unit: &str) -> PathBuf {
    let unit = dir.join("t/debug/.fingerprint").join(unit);
    fs::create_dir_all(&unit).unwrap();
    unit
}

#[test]
fn the_plan_is_found_beside_the_links() {
    let dir = scratch("plan");
    let plan = plan(&dir);
    let cargo = Graph::prepare(dir.join("detsim"), "t", &plan).unwrap().cargo("test", "t");
    for variable in ["RUSTC_WRAPPER", "RUSTDOC"] {
        let (_, program) = cargo.get_envs().find(|(name, _)| *name == variable).unwrap();
        let program = Path::new(program.unwrap());
        assert_eq!(fs::read_link(program).unwrap(), std::env::current_exe().unwrap());
        assert_eq!(Plan::of(program).unwrap(), plan);
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn tokio_alone_is_built_anew_when_a_file_of_the_shim_has_changed() {
    let dir = scratch("stamp");
    let plan = plan(&dir);
    let prepare = || Graph::prepare(dir.clone(), "t", &plan).unwrap();
    prepare();
    let (tokio, other) = (built(&dir, "tokio-0123456789abcdef"), built(&dir, "tokio-util-0123"));
    fs::write(dir.join("t/CACHEDIR.TAG"), "").unwrap();
    prepare();
    assert!(tokio.exists() && other.exists());

    fs::write(plan.shim.with_file_name("sync/mutex.rs"), "longer").unwrap();
    prepare();
    assert!(!tokio.exists() && other.exists());
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn what_was_built_with_other_flags_is_thrown_away() {
    let dir = scratch("flags");
    let plan = plan(&dir);
    let prepare = || Graph::prepare(dir.clone(), "t", &plan).unwrap();
    let flags = prepare().plan_dir.join(FLAGS);
    let rustix = built(&dir, "rustix-0123456789abcdef");
    prepare();
    assert!(rustix.exists());
    fs::remove_file(&flags).unwrap();
    prepare();
    assert!(!rustix.exists());

    let rustix = built(&dir, "rustix-0123456789abcdef");
    fs::write(flags, "another").unwrap();
    prepare();
    assert!(!rustix.exists());
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_build_of_an_unknown_layout_is_thrown_away() {
    let dir = scratch("layout");
    Graph::prepare(dir.clone(), "t", &plan(&dir)).unwrap();
    fs::remove_file(dir.join("graph/t").join(STAMP)).unwrap();
    fs::create_dir_all(dir.join("t/debug/units/tokio")).unwrap();
    Graph::prepare(dir.clone(), "t", &plan(&dir)).unwrap();
    assert!(!dir.join("t").exists());
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_link_without_a_plan_is_named() {
    let failure = Plan::of(Path::new("/no/such/detsim-rustc")).unwrap_err();
    assert!(failure.to_string().starts_with("detsim: `/no/such/plan.json`:"), "{failure}");
}
