//! Each fault has a probe: it fired, and it had an effect. And what nodes mean to disks.

use super::*;
use crate::volume::{CrashProfile, VolumeConfig};

const WRITE: OpenFlags = OpenFlags {
    read: true,
    write: true,
    append: false,
    create: true,
    exclusive: false,
    truncate: false,
    directory: false,
    nofollow: false,
    path_only: false,
    data_sync: false,
    sync: false,
    direct: false,
};

struct World {
    sim: Sim,
    disks: Rc<Disks>,
    node: detsim_executor::Node,
    fd: i32,
}

/// A node with a file of 2048 ones, durable, and then the faults.
fn world(faults: DiskFaults) -> World {
    let mut recorded = detsim_executor::SimConfig::default();
    recorded.record = true;
    let sim = Sim::with_config(7, recorded);
    let (disks, node) = (Disks::of(&sim), sim.node("n"));
    let fd = node.enter(|| {
        let fd = disks.open(Path::new("/f"), WRITE, 0o644).unwrap();
        assert_eq!(disks.write(fd, None, &[1; 2048]), Ok(2048));
        fd
    });
    disks.volume(node.id(), Volume::sync_all);
    disks.set_config(node.id(), DiskConfig { faults, ..DiskConfig::default() });
    World { sim, disks, node, fd }
}

impl World {
    /// The faults end.
    fn calm(&self) {
        self.disks.set_config(self.node.id(), DiskConfig::default());
    }

    fn read(&self, offset: u64, len: usize) -> Outcome<Vec<u8>> {
        let mut buf = vec![0; len];
        let read = self.disks.read(self.fd, Some(offset), &mut buf)?;
        buf.truncate(read);
        Ok(buf)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Outcome<usize> {
        self.disks.write(self.fd, Some(offset), bytes)
    }

    fn count(&self, fault: DiskFault) -> u64 {
        self.disks.count(self.node.id(), fault)
    }

    /// How often the trace tells of a fault.
    fn told(&self, fault: DiskFault) -> u64 {
        let is_it = |event| {
            matches!(event, Event::Disk(DiskEvent::Faulted { node, fault: told })
                if node == self.node.id() && told == fault)
        };
        self.sim.trace().moments.iter().filter(|moment| is_it(moment.event)).count() as u64
    }
}

/// What only this fault is asked for.
fn only(fault: DiskFault) -> DiskFaults {
    let rate = |which| if which == fault { 1.0 } else { 0.0 };
    DiskFaults {
        read_error_rate: rate(DiskFault::ReadError),
        write_error_rate: rate(DiskFault::WriteError),
        sync_error_rate: rate(DiskFault::SyncError),
        short_read_rate: rate(DiskFault::ShortRead),
        short_write_rate: rate(DiskFault::ShortWrite),
        interrupt_rate: rate(DiskFault::Interrupted),
        stall_rate: rate(DiskFault::Stall),
        lost_sync_rate: rate(DiskFault::LostSync),
        bit_rot_rate: rate(DiskFault::BitRot),
        lost_write_rate: rate(DiskFault::LostWrite),
        misdirected_write_rate: rate(DiskFault::MisdirectedWrite),
        stale_read_rate: rate(DiskFault::StaleRead),
        ..DiskFaults::default()
    }
}

#[test]
fn every_fault_that_is_asked_for_fires_and_the_trace_tells_of_it_as_often_as_it_is_counted() {
    for fault in DiskFault::ALL {
        let world = world(only(fault));
        let end = world.node.enter(|| world.disks.end_of(Cost::Write));
        let seen = [
            world.write(600, &[9; 100]).map(|_| Vec::new()),
            world.disks.sync(world.fd, false).map(|()| Vec::new()),
            world.read(600, 100),
        ];
        let calm = [Ok(Vec::new()), Ok(Vec::new()), Ok(vec![9; 100])];
        let is_late = end > world.sim.now() + Duration::from_secs(1);
        let is_hidden = fault == DiskFault::LostSync;
        assert!(seen != calm || is_late || is_hidden, "{fault:?} changed nothing: {seen:?}");
        assert!(world.count(fault) > 0, "{fault:?} never fired");
        assert_eq!(world.told(fault), world.count(fault), "{fault:?}");
        let others: u64 = DiskFault::ALL.map(|other| world.count(other)).iter().sum();
        assert_eq!(others, world.count(fault), "{fault:?} is not alone");
    }
}

#[test]
fn a_sync_that_has_nothing_to_do_does_not_lie() {
    let world = world(only(DiskFault::LostSync));
    let other = world.node.enter(|| world.disks.open(Path::new("/g"), WRITE, 0o644).unwrap());
    world.disks.write(other, None, b"x").unwrap();
    // Of a file of which nothing is pending, where the names are not of its journal.
    world.disks.sync(world.fd, true).unwrap();
    assert_eq!(world.count(DiskFault::LostSync), 0);
    world.node.enter(|| world.disks.sync_everything());
    assert_eq!(world.count(DiskFault::LostSync), 1);
    world.calm();
    world.node.enter(|| world.disks.sync_everything());
    assert_eq!(world.disks.volume(world.node.id(), |volume| volume.pending()), 0);
}

#[test]
fn a_write_that_is_durable_when_it_returns_meets_the_faults_of_syncs() {
    let direct = |fault| {
        let world = world(only(fault));
        let flags = OpenFlags { data_sync: true, ..WRITE };
        let fd = world.node.enter(|| world.disks.open(Path::new("/f"), flags, 0o644).unwrap());
        let written = world.disks.write(fd, Some(0), b"new");
        world.node.crash();
        (written, world.count(fault))
    };
    assert_eq!(direct(DiskFault::SyncError), (Err(Errno::EIO), 1));
    assert_eq!(direct(DiskFault::LostSync), (Ok(3), 1));
}

#[test]
fn probe_read_error_stays_until_the_sector_is_written() {
    let world = world(DiskFaults { read_error_rate: 1.0, ..DiskFaults::default() });
    assert_eq!(world.read(512, 10), Err(Errno::EIO));
    world.calm();
    assert_eq!(world.read(512, 10), Err(Errno::EIO));
    assert_eq!(world.read(0, 2048).unwrap().len(), 512);
    world.write(512, &[2; 512]).unwrap();
    assert_eq!(world.read(512, 10).unwrap(), [2; 10]);
    assert_eq!(world.count(DiskFault::ReadError), 2);
}

#[test]
fn probe_write_error_and_interruption_write_nothing() {
    for (fault, errno) in
        [(DiskFault::WriteError, Errno::EIO), (DiskFault::Interrupted, Errno::EINTR)]
    {
        let rate = |which| if which == fault { 1.0 } else { 0.0 };
        let world = world(DiskFaults {
            write_error_rate: rate(DiskFault::WriteError),
            interrupt_rate: rate(DiskFault::Interrupted),
            ..DiskFaults::default()
        });
        assert_eq!(world.write(0, b"x"), Err(errno));
        assert_eq!(world.write(0, b""), Ok(0));
        world.calm();
        assert_eq!((world.read(0, 1).unwrap(), world.count(fault)), (vec![1], 1));
    }
}

#[test]
fn probe_short_reads_and_writes_make_progress() {
    let faults =
        DiskFaults { short_read_rate: 1.0, short_write_rate: 1.0, ..DiskFaults::default() };
    let world = world(faults);
    assert!((1..2048).contains(&world.read(0, 2048).unwrap().len()));
    assert!((1..2048).contains(&world.write(0, &[3; 2048]).unwrap()));
    assert_eq!((world.write(0, b"x"), world.read(0, 1)), (Ok(1), Ok(b"x".to_vec())));
    assert_eq!((world.count(DiskFault::ShortRead), world.count(DiskFault::ShortWrite)), (1, 1));
}

#[test]
fn probe_sync_error_loses_the_data_and_the_next_sync_lies() {
    let world = world(DiskFaults { sync_error_rate: 1.0, ..DiskFaults::default() });
    world.write(0, b"new").unwrap();
    assert_eq!(world.disks.sync(world.fd, false), Err(Errno::EIO));
    world.calm();
    assert_eq!(world.disks.sync(world.fd, false), Ok(()));
    world.node.crash();
    let fd = world.sim.node("other").enter(|| world.disks.find(world.fd));
    assert_eq!(fd, Err(Errno::EBADF));
    assert_eq!(contents(&world), [1; 3]);
    assert_eq!(world.count(DiskFault::SyncError), 1);
}

/// The first bytes of the file, after a crash.
fn contents(world: &World) -> Vec<u8> {
    let mut buf = vec![0; 3];
    world.disks.volume(world.node.id(), |volume| {
        let handle =
            volume.open(Path::new("/f"), OpenFlags { read: true, ..Default::default() }, 0);
        volume.read(handle.unwrap(), &mut buf).unwrap();
    });
    buf
}

#[test]
fn probe_lost_sync_makes_nothing_durable() {
    let mut lost = 0;
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let (disks, node) = (Disks::of(&sim), sim.node("n"));
        let volume = VolumeConfig { profile: CrashProfile::NoBarrier, ..VolumeConfig::default() };
        let faults = DiskFaults { lost_sync_rate: 1.0, ..DiskFaults::default() };
        disks.set_config(node.id(), DiskConfig { volume, faults, ..DiskConfig::default() });
        node.enter(|| {
            let fd = disks.open(Path::new("/f"), WRITE, 0o644).unwrap();
            disks.write(fd, None, b"kept?").unwrap();
            disks.sync(fd, false).unwrap();
        });
        assert_eq!(disks.count(node.id(), DiskFault::LostSync), 1);
        node.crash();
        lost += usize::from(disks.volume(node.id(), |v| v.metadata(Path::new("/f")).is_err()));
    }
    assert!((1..20).contains(&lost), "{lost}");
}

#[test]
fn probe_silent_faults_change_bytes_and_say_nothing() {
    let lost = world(DiskFaults { lost_write_rate: 1.0, ..DiskFaults::default() });
    assert_eq!((lost.write(0, b"new"), lost.read(0, 3)), (Ok(3), Ok(vec![1; 3])));
    assert_eq!(lost.count(DiskFault::LostWrite), 1);

    let misdirected = world(DiskFaults { misdirected_write_rate: 1.0, ..DiskFaults::default() });
    misdirected.write(600, &[9; 100]).unwrap();
    let bytes = misdirected.read(0, 2048).unwrap();
    assert_eq!(bytes.iter().filter(|byte| **byte == 9).count(), 100);
    assert_ne!(bytes[600..700], [9; 100]);

    let stale = world(DiskFaults { stale_read_rate: 1.0, ..DiskFaults::default() });
    stale.write(0, b"new").unwrap();
    assert_eq!((stale.read(0, 3), stale.read(0, 3)), (Ok(vec![1; 3]), Ok(b"new".to_vec())));

    let rotten = world(DiskFaults { bit_rot_rate: 1.0, ..DiskFaults::default() });
    let bytes = rotten.read(0, 512).unwrap();
    assert_eq!(bytes.iter().map(|byte| (byte ^ 1).count_ones()).sum::<u32>(), 1);
    rotten.calm();
    assert_eq!(rotten.read(0, 512).unwrap(), bytes);
    rotten.write(0, &[1; 512]).unwrap();
    assert_eq!(rotten.read(0, 512).unwrap(), [1; 512]);
}

#[test]
fn probe_stall_takes_its_time() {
    let world = world(DiskFaults { stall_rate: 1.0, ..DiskFaults::default() });
    let end = world.node.enter(|| world.disks.end_of(Cost::Read));
    assert!(end >= world.sim.now() + Duration::from_secs(10));
    assert_eq!(world.count(DiskFault::Stall), 1);
}

#[test]
fn a_budget_keeps_silent_faults_to_few_disks() {
    let sim = Sim::new(7);
    let disks = Disks::of(&sim);
    disks.set_silent_budget(1);
    let faults = DiskFaults { lost_write_rate: 0.5, ..DiskFaults::default() };
    let nodes = ["a", "b", "c"].map(|name| sim.node(name));
    for node in &nodes {
        disks.set_config(node.id(), DiskConfig { faults, ..DiskConfig::default() });
    }
    for _ in 0..50 {
        for node in &nodes {
            node.enter(|| {
                let fd = disks.open(Path::new("/f"), WRITE, 0o644).unwrap();
                disks.write(fd, None, b"x").unwrap();
                disks.close(fd).unwrap();
                disks.names(|volume| volume.remove_file(Path::new("/f"))).unwrap();
            });
        }
    }
    let counts = nodes.map(|node| disks.count(node.id(), DiskFault::LostWrite));
    assert_eq!(counts.iter().filter(|count| **count > 0).count(), 1, "{counts:?}");
}

#[test]
fn every_node_has_a_disk_of_its_own() {
    let sim = Sim::new(7);
    let disks = Disks::of(&sim);
    disks.set_home(Path::new("/home/me"));
    let (a, b) = (sim.node("a"), sim.node("b"));
    let fd = a.enter(|| disks.open(Path::new("f"), WRITE, 0o644).unwrap());
    assert!(is_simulated(fd));
    let there = |node: NodeId| disks.volume(node, |v| v.metadata(Path::new("/home/me/f")).is_ok());
    assert_eq!((there(a.id()), there(b.id())), (true, false));
    a.kill();
    assert_eq!((disks.close(fd), there(a.id())), (Err(Errno::EBADF), true));
}

#[test]
fn an_exhaustive_disk_draws_among_all_sets() {
    let mut left = BTreeSet::new();
    for seed in 0..60 {
        let sim = Sim::new(seed);
        let (disks, node) = (Disks::of(&sim), sim.node("n"));
        disks.set_config(node.id(), DiskConfig { exhaustive: true, ..DiskConfig::default() });
        node.enter(|| {
            for name in ["/a", "/b", "/c"] {
                disks.open(Path::new(name), WRITE, 0o644).unwrap();
            }
        });
        node.crash();
        let names = disks.volume(node.id(), |v| v.read_dir(Path::new("/")).unwrap().len() - 2);
        left.insert(names);
    }
    assert_eq!(Vec::from_iter(left), [0, 1, 2, 3]);
}

#[test]
fn probe_power_goes_before_during_and_after_a_call_and_comes_back() {
    let mut seen = BTreeSet::new();
    for seed in 0..40 {
        let sim = Sim::new(seed);
        let (disks, node) = (Disks::of(&sim), sim.node("n"));
        let power = PowerLoss { rate: 1.0, back_after: Duration::from_secs(2) };
        disks.set_config(node.id(), DiskConfig { power, ..DiskConfig::default() });
        let starts = Rc::new(Cell::new(0));
        let (count, own) = (Rc::clone(&starts), Rc::clone(&disks));
        let ended = Rc::new(RefCell::new("before"));
        let note = Rc::clone(&ended);
        node.on_start(move || {
            count.set(count.get() + 1);
            let (disks, note, is_first) = (Rc::clone(&own), Rc::clone(&note), count.get() == 1);
            drop(context::spawn("writer", async move {
                let end = if is_first { disks.end_of(Cost::Sync) } else { SimTime::MAX };
                if end == SimTime::MAX {
                    return std::future::pending::<()>().await;
                }
                *note.borrow_mut() = "during";
                detsim_executor::sleep_until(end).await;
                *note.borrow_mut() = "after";
                std::future::pending::<()>().await;
            }));
        });
        sim.run_until(SimTime::from_secs(1)).unwrap();
        assert!(!node.is_up(), "seed {seed}");
        sim.run_until(SimTime::from_secs(4)).unwrap();
        assert_eq!((node.is_up(), starts.get()), (true, 2));
        seen.insert(*ended.borrow());
    }
    assert_eq!(Vec::from_iter(seen), ["after", "before", "during"]);
}

#[test]
fn probe_power_leans_to_the_steps_on_which_stores_rely() {
    let goes = |cost| {
        let lost = (0..400).filter(|seed| {
            let sim = Sim::new(*seed);
            let (disks, node) = (Disks::of(&sim), sim.node("n"));
            let power = PowerLoss { rate: 0.1, back_after: Duration::from_secs(9) };
            disks.set_config(node.id(), DiskConfig { power, ..DiskConfig::default() });
            let calls = async move {
                disks.end_of(cost);
                std::future::pending::<()>().await;
            };
            drop(node.spawn("n", calls));
            sim.run_until(SimTime::from_secs(1)).unwrap();
            !node.is_up()
        });
        lost.count()
    };
    let lost = [Cost::Read, Cost::Write, Cost::Rename, Cost::Sync].map(goes);
    let wanted = [0..1, 25..55, 130..190, 130..190];
    assert!(lost.iter().zip(&wanted).all(|(lost, wanted)| wanted.contains(lost)), "{lost:?}");
}
