//! The files of local sockets, over the death of a process and the loss of power: what only a simulation can
//! show. What programs see of them otherwise stands among the programs of two worlds.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use detsim_executor::{Node, Sim};
use detsim_shim_tokio::net::{UnixListener, UnixStream};

const PATH: &str = "/tmp/service";
const MS: Duration = Duration::from_millis(1);

/// What a service saw of each of its starts.
type Starts = Rc<RefCell<Vec<String>>>;

fn shown<T>(result: io::Result<T>) -> String {
    result.map_or_else(|error| format!("{:?}", error.raw_os_error()), |_| "ok".to_owned())
}

/// A node whose service listens under [`PATH`] as long as it lives.
fn service(sim: &Sim, removes_first: bool) -> (Node, Starts) {
    let starts = Starts::default();
    let (node, noted) = (sim.node("host"), Rc::clone(&starts));
    let of = node.clone();
    node.on_start(move || {
        let noted = Rc::clone(&noted);
        drop(of.spawn("service", async move {
            if removes_first {
                let removed = fs::remove_file(PATH);
                noted.borrow_mut().push(format!("remove {}", shown(removed)));
            }
            let listener = UnixListener::bind(PATH);
            noted.borrow_mut().push(format!("bind {}", shown(listener.as_ref().map_err(copy))));
            let Ok(listener) = listener else { return };
            while let Ok((stream, _)) = listener.accept().await {
                drop(stream);
            }
        }));
    });
    (node, starts)
}

fn copy(error: &io::Error) -> io::Error {
    io::Error::from_raw_os_error(error.raw_os_error().unwrap_or(0))
}

/// What a program of the node says, run for a while.
fn ask(sim: &Sim, node: &Node, program: impl Future<Output = String> + 'static) -> String {
    sim.run_for(20 * MS).unwrap();
    let said = Rc::new(RefCell::new(None));
    let says = Rc::clone(&said);
    drop(node.spawn("asks", async move {
        let answer = program.await;
        *says.borrow_mut() = Some(answer);
    }));
    sim.run_for(100 * MS).unwrap();
    said.take().expect("an answer")
}

async fn connects() -> String {
    let is_socket = fs::metadata(PATH).is_ok_and(|known| known.file_type().is_socket());
    format!("file {is_socket}, connect {}", shown(UnixStream::connect(PATH).await))
}

#[test]
fn a_service_that_takes_its_old_file_away_comes_back() {
    let sim = Sim::new(1);
    let (node, starts) = service(&sim, true);
    assert_eq!(ask(&sim, &node, connects()), "file true, connect ok");
    node.kill();
    node.restart();
    assert_eq!(ask(&sim, &node, connects()), "file true, connect ok");
    assert_eq!(*starts.borrow(), ["remove Some(2)", "bind ok", "remove ok", "bind ok"]);
}

#[test]
fn a_service_that_forgets_its_old_file_does_not() {
    let sim = Sim::new(1);
    let (node, starts) = service(&sim, false);
    sim.run_for(20 * MS).unwrap();
    node.kill();
    node.restart();
    assert_eq!(ask(&sim, &node, connects()), "file true, connect Some(111)");
    assert_eq!(*starts.borrow(), ["bind ok", "bind Some(98)"]);
}

#[test]
fn a_loss_of_power_may_take_a_file_that_nobody_has_synced() {
    let (mut unsynced, mut synced) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..20 {
        for (syncs, seen) in [(false, &mut unsynced), (true, &mut synced)] {
            let sim = Sim::new(seed);
            let node = sim.node("host");
            drop(node.spawn("binds", async move {
                let _listener = UnixListener::bind(PATH).unwrap();
                if syncs {
                    fs::File::open("/tmp").unwrap().sync_all().unwrap();
                }
                std::future::pending::<()>().await;
            }));
            sim.run_for(50 * MS).unwrap();
            node.crash();
            node.restart();
            seen.insert(ask(&sim, &node, connects()));
        }
    }
    let [gone, stale] = ["file false, connect Some(2)", "file true, connect Some(111)"];
    assert_eq!(unsynced, BTreeSet::from([gone.to_owned(), stale.to_owned()]));
    assert_eq!(synced, BTreeSet::from([stale.to_owned()]));
}

#[test]
fn a_file_in_memory_is_gone_with_the_power_and_not_with_the_process() {
    async fn there() -> String {
        let path = Path::new("/dev/shm/s");
        format!("{} {}", path.exists(), shown(UnixStream::connect(path).await))
    }
    for (loses_power, expected) in [(true, "false Some(2)"), (false, "true Some(111)")] {
        let sim = Sim::new(1);
        let node = sim.node("host");
        drop(node.spawn("binds", async {
            let _listener = UnixListener::bind("/dev/shm/s").unwrap();
            std::future::pending::<()>().await;
        }));
        assert_eq!(ask(&sim, &node, there()), "true ok");
        if loses_power {
            node.crash()
        } else {
            node.kill()
        }
        node.restart();
        assert_eq!(ask(&sim, &node, there()), expected);
    }
}

#[test]
fn nodes_have_their_own_files_and_abstract_names() {
    let sim = Sim::new(1);
    for name in ["a", "b"] {
        let node = sim.node(name);
        drop(node.spawn("binds", async {
            let _file = UnixListener::bind(PATH).unwrap();
            let _abstract_name = UnixListener::bind("\0service").unwrap();
            std::future::pending::<()>().await;
        }));
        assert_eq!(ask(&sim, &node, connects()), "file true, connect ok");
    }
    let stranger = sim.node("c");
    assert_eq!(ask(&sim, &stranger, connects()), "file false, connect Some(2)");
    let alone = async { shown(UnixStream::connect("\0service").await) };
    assert_eq!(ask(&sim, &stranger, alone), "Some(111)");
}
