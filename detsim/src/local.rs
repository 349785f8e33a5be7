//! Names of local sockets that are paths.
//!
//! Owns: the one way from such a name to a file of the node's disk and from there to a socket, for tokio's types
//! and for libc's functions alike: [`bind`] makes the file, [`find`] walks to it. Does not own: sockets
//! (`detsim_net`) and files (`detsim_fs`), which know nothing of each other but the number of a file.
//!
//! Neither takes any time, as no other call on a local socket does. The file is durable as any name that was
//! made and not synced, and stays behind when the socket is closed.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use detsim_executor::OpKind;
use detsim_fs::{Cost, Disks, Errno, Outcome, Volume};
use detsim_net::{Socket, Whom};

use crate::interpose::fs;

/// What everybody may do with a socket, but for what the mask of the process takes away.
const MODE: u32 = 0o777;

/// Gives a local socket a name: a path, or an abstract one behind a zero byte; any abstract one where it is empty.
///
/// # Errors
/// EADDRINUSE where there is a file of this name, whatever it is, and those of walking a path; EINVAL for a
/// socket that has a name.
pub fn bind(socket: &Socket, name: Vec<u8>) -> io::Result<()> {
    if !is_path(&name) {
        return socket.bind_name(unless_empty(name), None);
    }
    let path = path(&name).to_owned();
    let file = with_disks(OpKind::Write, |disks| make(disks, &path))?;
    let bound = socket.bind_name(name, Some(file));
    if bound.is_err() {
        with_disks(OpKind::Write, |disks| disks.names(|volume| volume.remove_file(&path)))?;
    }
    bound
}

/// Whom a name leads to, as things are now.
pub fn find(name: &[u8]) -> Whom {
    if unless_empty(name.to_vec()).is_empty() {
        return Whom::Nobody(Errno::EINVAL.raw());
    }
    if !is_path(name) {
        return Whom::Abstract(name.to_vec());
    }
    let walk = |volume: &mut Volume| volume.socket_at(path(name));
    match with_disks(OpKind::Read, |disks| disks.names(walk)) {
        Ok(file) => Whom::File(file),
        Err(error) => Whom::Nobody(error.raw_os_error().unwrap_or(Errno::EINVAL.raw())),
    }
}

fn is_path(name: &[u8]) -> bool {
    name.first().is_some_and(|first| *first != 0)
}

/// To the system a zero byte alone is no name.
fn unless_empty(name: Vec<u8>) -> Vec<u8> {
    if name == [0] { Vec::new() } else { name }
}

fn path(name: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(name))
}

/// A socket of the simulation takes the place of one of the system's, whose name leads through directories that
/// need not be on the disk of the node.
///
/// # Errors
/// As [`bind`].
pub fn bind_in_place(socket: &Socket, name: Vec<u8>) -> io::Result<()> {
    if is_path(&name) {
        with_disks(OpKind::Write, |disks| disks.names(|volume| make_parents(volume, path(&name))))?;
    }
    bind(socket, name)
}

fn make_parents(volume: &mut Volume, path: &Path) -> Outcome<()> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    above.reverse();
    for dir in above {
        // What is there already is there.
        let _known = volume.create_dir(dir, 0o755);
    }
    Ok(())
}

fn make(disks: &Disks, path: &Path) -> Outcome<u64> {
    let make = || disks.names(|volume| volume.make_socket(path, MODE));
    match make() {
        Err(Errno::ENOENT) if fs::take_up_parents_anywhere(disks, path) => make(),
        outcome => outcome,
    }
}

/// A call on the disk of the node that runs.
fn with_disks<R>(kind: OpKind, f: impl FnOnce(&Disks) -> Outcome<R>) -> io::Result<R> {
    let disks = fs::disks().ok_or(Errno::EBADF)?;
    let done = disks.at_once(|| {
        disks.blocking(Cost::Read, |disks| {
            disks.operate(kind);
            f(disks)
        })
    });
    done.map_err(|errno| match errno {
        Errno::EEXIST => io::Error::from_raw_os_error(libc::EADDRINUSE),
        errno => errno.into(),
    })
}
