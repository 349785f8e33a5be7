//! What a volume does, call by call.

use super::*;

fn volume(profile: CrashProfile) -> Volume {
    Volume::new(VolumeConfig { profile, ..VolumeConfig::default() })
}

fn path(path: &str) -> &Path {
    Path::new(path)
}

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

const READ: OpenFlags = OpenFlags { write: false, create: false, ..WRITE };

fn put(volume: &mut Volume, at: &str, bytes: &[u8]) -> Handle {
    let file = volume.open(path(at), WRITE, 0o644).unwrap();
    assert_eq!(volume.write(file, bytes), Ok(bytes.len()));
    file
}

fn bytes(volume: &mut Volume, at: &str) -> Outcome<Vec<u8>> {
    let file = volume.open(path(at), READ, 0)?;
    let mut buf = vec![0; volume.handle_metadata(file)?.size as usize];
    volume.read(file, &mut buf)?;
    volume.close(file)?;
    Ok(buf)
}

/// Loses everything that may be lost.
fn lose(volume: &mut Volume) {
    let sets = volume.survivor_sets().expect("few atoms are pending");
    volume.crash_into(&sets[0]);
}

#[test]
fn a_rename_is_not_told_to_a_file_that_is_open() {
    let mut volume = volume(CrashProfile::default());
    let file = put(&mut volume, "/tmp/a", b"hello");
    volume.rename(path("/tmp/a"), path("/tmp/b")).unwrap();
    assert_eq!(bytes(&mut volume, "/tmp/b").unwrap(), b"hello");
    volume.write(file, b", world").unwrap();
    assert_eq!(bytes(&mut volume, "/tmp/b").unwrap(), b"hello, world");
    assert_eq!(bytes(&mut volume, "/tmp/a"), Err(Errno::ENOENT));
}

#[test]
fn a_file_without_a_name_lives_until_it_is_closed() {
    let mut volume = volume(CrashProfile::default());
    let file = put(&mut volume, "/a", b"hello");
    volume.remove_file(path("/a")).unwrap();
    let mut buf = [0; 5];
    assert_eq!(volume.read_at(file, 0, &mut buf), Ok(5));
    assert_eq!(volume.handle_metadata(file).unwrap().links, 0);
    let pages = volume.pages;
    volume.close(file).unwrap();
    assert_eq!((pages, volume.pages), (1, 0));
    volume.sync_all();
    assert_eq!((volume.medium.pages(), volume.pending()), (0, 0));
}

#[test]
fn what_fsync_covers() {
    // A name is the directory's: only ext4 and its like commit it with the file.
    for (profile, is_there) in [(CrashProfile::Posix, false), (CrashProfile::Ext4Ordered, true)] {
        let mut volume = volume(profile);
        let file = put(&mut volume, "/a", b"hello");
        volume.fsync(file).unwrap();
        lose(&mut volume);
        assert_eq!(bytes(&mut volume, "/a").is_ok(), is_there, "{profile:?}");
    }
    let mut volume = volume(CrashProfile::Posix);
    let file = put(&mut volume, "/a", b"hello");
    let root = volume.open(path("/"), READ, 0).unwrap();
    volume.fsync(root).unwrap();
    volume.set_mode(path("/a"), 0o600).unwrap();
    volume.fdatasync(file).unwrap();
    lose(&mut volume);
    // fdatasync leaves permissions and times alone.
    assert_eq!(bytes(&mut volume, "/a").unwrap(), b"hello");
    assert_eq!(volume.metadata(path("/a")).unwrap().mode, 0o644);
}

#[test]
fn what_was_done_after_a_sync_began_is_not_covered() {
    let mut volume = volume(CrashProfile::Posix);
    let file = put(&mut volume, "/a", b"hello");
    volume.sync_all();
    volume.write(file, b"covered").unwrap();
    let point = volume.begin_sync(file, false).unwrap();
    volume.write(file, b"not").unwrap();
    volume.finish_sync(point).unwrap();
    lose(&mut volume);
    assert_eq!(bytes(&mut volume, "/a").unwrap(), b"hellocovered");
}

#[test]
fn o_dsync_is_durable_at_return_but_for_the_name() {
    let mut volume = volume(CrashProfile::Posix);
    let flags = OpenFlags { data_sync: true, ..WRITE };
    let file = volume.open(path("/a"), flags, 0o644).unwrap();
    volume.open(path("/"), READ, 0).and_then(|root| volume.fsync(root)).unwrap();
    volume.write(file, b"hello").unwrap();
    lose(&mut volume);
    assert_eq!(bytes(&mut volume, "/a").unwrap(), b"hello");
}

#[test]
fn a_failed_sync_is_told_once_to_each_and_the_next_one_lies() {
    let mut volume = volume(CrashProfile::Posix);
    let file = put(&mut volume, "/a", b"old!!");
    let other = volume.open(path("/a"), READ, 0).unwrap();
    volume.sync_all();
    volume.write_at(file, 0, b"new!!").unwrap();
    let point = volume.begin_sync(file, false).unwrap();
    assert_eq!(volume.fail_sync(point), Ok(1));
    assert_eq!(volume.fsync(file), Ok(()));
    assert_eq!(volume.fsync(other), Err(Errno::EIO));
    assert_eq!(volume.fsync(other), Ok(()));
    assert_eq!(bytes(&mut volume, "/a").unwrap(), b"new!!");
    lose(&mut volume);
    assert_eq!(bytes(&mut volume, "/a").unwrap(), b"old!!");
}

#[test]
fn a_sector_written_again_after_a_failed_sync_is_durable_whole() {
    let mut volume = volume(CrashProfile::Posix);
    let file = put(&mut volume, "/a", b"old!!");
    volume.sync_all();
    volume.write_at(file, 0, b"new").unwrap();
    let point = volume.begin_sync(file, false).unwrap();
    volume.fail_sync(point).unwrap();
    volume.write_at(file, 4, b"?").unwrap();
    volume.fsync(file).unwrap();
    lose(&mut volume);
    assert_eq!(bytes(&mut volume, "/a").unwrap(), b"new!?");
}

#[test]
fn a_process_that_ends_leaves_the_cache() {
    let mut volume = volume(CrashProfile::Posix);
    let file = put(&mut volume, "/a", b"hello");
    volume.set_current_dir(path("/tmp")).unwrap();
    volume.kill();
    assert_eq!(bytes(&mut volume, "a").unwrap(), b"hello");
    assert_eq!(volume.write(file, b"?"), Err(Errno::EBADF));
}

#[test]
fn the_write_back_makes_everything_durable_in_time() {
    let mut volume = volume(CrashProfile::Posix);
    put(&mut volume, "/a", b"hello");
    volume.set_now(SimTime::from_secs(6));
    assert_eq!(volume.pending(), 0);
    lose(&mut volume);
    assert_eq!(bytes(&mut volume, "/a").unwrap(), b"hello");
    // Before that, a draw says how far it came.
    put(&mut volume, "/b", b"hello");
    volume.set_now(SimTime::from_secs(10));
    let mut is_first = true;
    volume.crash(&mut |bound| if std::mem::take(&mut is_first) { bound - 1 } else { 0 });
    assert_eq!(bytes(&mut volume, "/b").unwrap(), b"hello");
}

#[test]
fn a_full_disk_takes_a_part_of_a_write_then_none() {
    let config = VolumeConfig { capacity: 2 * 4096, ..VolumeConfig::default() };
    let mut volume = Volume::new(config);
    let file = volume.open(path("/a"), WRITE, 0o644).unwrap();
    assert_eq!(volume.write(file, &[1; 5000]), Ok(5000));
    assert_eq!(volume.write(file, &[1; 5000]), Ok(2 * 4096 - 5000));
    assert_eq!(volume.write(file, b"x"), Err(Errno::ENOSPC));
    assert_eq!(volume.write_at(file, 0, b"over"), Ok(4));
    volume.set_len(file, 0).unwrap();
    assert_eq!(volume.space(), (8192, 8192));
}

#[test]
fn room_that_was_synced_is_reserved_after_a_loss_of_power_and_holes_stay_holes() {
    const PAGE: u64 = 4096;
    let config = VolumeConfig { capacity: 8 * PAGE, ..VolumeConfig::default() };
    let mut volume = Volume::new(config);
    let file = put(&mut volume, "/a", &[1; 4 * 4096]);
    volume.allocate(file, 0, 6 * PAGE, Allocation::Reserve { grows: true }).unwrap();
    volume.allocate(file, PAGE, PAGE, Allocation::Punch).unwrap();
    volume.allocate(file, 2 * PAGE + 1, 9, Allocation::Zero { grows: false }).unwrap();
    assert_eq!(volume.space().1, 3 * PAGE);
    volume.fsync(file).unwrap();
    // Not synced, and none of the log's.
    volume.allocate(file, PAGE, PAGE, Allocation::Reserve { grows: false }).unwrap();
    assert_eq!(volume.space().1, 2 * PAGE);
    volume.crash(&mut |_| 0);
    assert_eq!(volume.space().1, 3 * PAGE);
    let found = bytes(&mut volume, "/a").unwrap();
    let zeros: Vec<usize> = (0..4 * 4096).filter(|at| found[*at] == 0).collect();
    assert_eq!(zeros, (4096..8192).chain(8193..8202).collect::<Vec<_>>());
    assert_eq!(found.len(), 6 * 4096);
}

#[test]
fn what_is_in_memory_lives_as_long_as_the_power() {
    let config = VolumeConfig { capacity: 4096, ..VolumeConfig::default() };
    let mut volume = Volume::new(config);
    volume.mount_memory(path("/shm")).unwrap();
    put(&mut volume, "/disk", b"pending");
    let file = put(&mut volume, "/shm/f", &[1; 3 * 4096]);
    // A sync in memory takes nothing of the disk along.
    volume.fsync(file).unwrap();
    assert_eq!((volume.pending(), volume.space().1), (3, 0));
    volume.kill();
    assert_eq!(bytes(&mut volume, "/shm/f").unwrap().len(), 3 * 4096);
    volume.sync_all();
    volume.crash(&mut |_| 0);
    assert_eq!(bytes(&mut volume, "/shm/f"), Err(Errno::ENOENT));
    assert_eq!(bytes(&mut volume, "/disk").unwrap(), b"pending");
    put(&mut volume, "/shm/f", b"again");
    assert_eq!(volume.remove_dir(path("/shm")), Err(Errno::EBUSY));
}

#[test]
fn a_file_that_replaces_another_by_rename_is_whole_on_ext4_and_may_be_empty_elsewhere() {
    let crashed = |profile| {
        let mut volume = volume(profile);
        put(&mut volume, "/a", b"old");
        volume.sync_all();
        put(&mut volume, "/tmp/a", b"new");
        volume.rename(path("/tmp/a"), path("/a")).unwrap();
        let sets = volume.survivor_sets().unwrap();
        let left = sets.iter().map(|set| {
            let mut volume = volume.clone();
            volume.crash_into(set);
            bytes(&mut volume, "/a").unwrap()
        });
        left.collect::<BTreeSet<_>>()
    };
    let both = [b"new".to_vec(), b"old".to_vec()];
    assert_eq!(Vec::from_iter(crashed(CrashProfile::Ext4Ordered)), both);
    assert!(crashed(CrashProfile::Posix).contains(b"".as_slice()));
    assert!(crashed(CrashProfile::MetadataLog).contains([0; 3].as_slice()));
}

#[test]
fn the_listing_of_a_directory_is_fixed_and_not_sorted() {
    let list = || {
        let mut volume = volume(CrashProfile::default());
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            put(&mut volume, &format!("/tmp/{name}"), b"");
        }
        let names = volume.read_dir(path("/tmp")).unwrap().into_iter().map(|entry| entry.name);
        names.collect::<Vec<_>>()
    };
    assert_eq!(list(), list());
    assert!(!list().is_sorted());
}

#[test]
fn a_directory_is_read_while_it_changes() {
    let mut volume = volume(CrashProfile::default());
    for name in ["a", "b", "c", "d"] {
        put(&mut volume, &format!("/tmp/{name}"), b"");
    }
    let dir = volume.open(path("/tmp"), READ, 0).unwrap();
    let mut seen = 0;
    while let Some(entry) = volume.next_entry(dir).unwrap() {
        volume.remove_file(&path("/tmp").join(entry.name)).unwrap();
        seen += 1;
    }
    assert_eq!((seen, volume.remove_dir(path("/tmp"))), (4, Ok(())));
}

#[test]
fn locks_are_the_open_files() {
    let mut volume = volume(CrashProfile::default());
    let first = put(&mut volume, "/a", b"");
    let second = volume.open(path("/a"), READ, 0).unwrap();
    let twin = volume.duplicate(first).unwrap();
    volume.try_lock(first, LockKind::Exclusive).unwrap();
    volume.try_lock(twin, LockKind::Shared).unwrap();
    assert_eq!(volume.try_lock(second, LockKind::Exclusive), Err(Errno::EAGAIN));
    assert_eq!(volume.try_lock(second, LockKind::Shared), Ok(()));
    volume.close(second).unwrap();
    volume.close(first).unwrap();
    assert_eq!(volume.try_lock(twin, LockKind::Exclusive), Ok(()));
}

#[test]
fn walks_end_in_the_errors_of_linux() {
    let mut volume = volume(CrashProfile::default());
    put(&mut volume, "/file", b"");
    volume.create_dir(path("/d"), 0o755).unwrap();
    volume.symlink(path("loop"), path("/loop")).unwrap();
    volume.symlink(path("/d/new"), path("/dangling")).unwrap();
    let cases = [
        ("", Errno::ENOENT),
        ("/no", Errno::ENOENT),
        ("/no/no", Errno::ENOENT),
        ("/file/no", Errno::ENOTDIR),
        ("/file/", Errno::ENOTDIR),
        ("/file/.", Errno::ENOTDIR),
        ("/loop", Errno::ELOOP),
        ("/dangling", Errno::ENOENT),
    ];
    for (at, errno) in cases {
        assert_eq!(volume.metadata(path(at)), Err(errno), "{at:?}");
    }
    assert_eq!(volume.metadata(path(&"x".repeat(256))), Err(Errno::ENAMETOOLONG));
    assert_eq!(volume.metadata(path(&"x/".repeat(2048))), Err(Errno::ENAMETOOLONG));
    // A link that leads nowhere is where a new file goes.
    put(&mut volume, "/dangling", b"x");
    assert_eq!(volume.canonicalize(path("/dangling/../new")), Err(Errno::ENOTDIR));
    assert_eq!(volume.canonicalize(path("//d/.././dangling")).unwrap(), path("/d/new"));
}

#[test]
fn permissions_are_those_of_an_owner_who_is_not_root() {
    let mut volume = volume(CrashProfile::default());
    volume.create_dir(path("/d"), 0o755).unwrap();
    put(&mut volume, "/d/a", b"");
    volume.set_mode(path("/d/a"), 0o400).unwrap();
    assert_eq!(volume.open(path("/d/a"), WRITE, 0), Err(Errno::EACCES));
    assert!(volume.open(path("/d/a"), READ, 0).is_ok());
    volume.set_mode(path("/d"), 0o500).unwrap();
    assert_eq!(volume.remove_file(path("/d/a")), Err(Errno::EACCES));
    volume.set_mode(path("/d"), 0o200).unwrap();
    assert_eq!(volume.metadata(path("/d/a")), Err(Errno::EACCES));
    let config = VolumeConfig { superuser: true, ..volume.config() };
    volume.set_config(config);
    assert!(volume.open(path("/d/a"), WRITE, 0).is_ok());
}

#[test]
fn a_directory_that_is_gone_takes_no_names() {
    let mut volume = volume(CrashProfile::default());
    volume.create_dir(path("/d"), 0o755).unwrap();
    let held = volume.open(path("/d"), OpenFlags { directory: true, ..READ }, 0).unwrap();
    put(&mut volume, "/f", b"x");
    volume.remove_dir(path("/d")).unwrap();
    let within = volume.within(held, |volume| {
        [
            volume.open(path("f"), WRITE, 0o644).err(),
            volume.create_dir(path("d"), 0o755).err(),
            volume.symlink(path("x"), path("s")).err(),
            volume.hard_link(path("/f"), path("g")).err(),
            volume.rename(path("/f"), path("g")).err(),
            volume.metadata(path(".")).err(),
            volume.metadata(path("..")).err(),
        ]
    });
    let gone = Some(Errno::ENOENT);
    assert_eq!(within, Ok([gone, gone, gone, gone, gone, None, None]));
}

#[test]
fn a_file_has_65_000_names_at_most() {
    let mut volume = volume(CrashProfile::default());
    put(&mut volume, "/f", b"x");
    let name = |n: u32| format!("/f{n}");
    for n in 1..65_000 {
        volume.hard_link(path("/f"), path(&name(n))).unwrap();
    }
    assert_eq!(volume.hard_link(path("/f"), path("/more")), Err(Errno::EMLINK));
    volume.remove_file(path("/f1")).unwrap();
    assert_eq!(volume.hard_link(path("/f"), path("/more")), Ok(()));
}

#[test]
fn a_listing_is_of_its_beginning_less_what_is_gone() {
    let mut volume = volume(CrashProfile::default());
    volume.create_dir(path("/d"), 0o755).unwrap();
    for n in 0..2_000 {
        put(&mut volume, &format!("/d/{n}"), b"");
        volume.kill();
    }
    let dir = volume.open(path("/d"), OpenFlags { directory: true, ..READ }, 0).unwrap();
    let first = volume.next_entry(dir).unwrap().unwrap().name;
    for n in 0..2_000 {
        let name = n.to_string();
        if n % 2 == 0 && *first != *name {
            volume.remove_file(&path("/d").join(name)).unwrap();
        }
    }
    put(&mut volume, "/d/new", b"");
    let mut rest = 0;
    while let Some(entry) = volume.next_entry(dir).unwrap() {
        assert_ne!(entry.name, "new");
        rest += 1;
    }
    assert!((999..=1_000).contains(&rest), "{rest}");
    volume.seek(dir, Seek::Start(0)).unwrap();
    let again = std::iter::from_fn(|| volume.next_entry(dir).unwrap()).count();
    assert_eq!(again, volume.read_dir(path("/d")).unwrap().len());
}
