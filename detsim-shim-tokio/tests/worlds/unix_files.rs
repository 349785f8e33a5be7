//! Programs on the files that names of local sockets stand for.

use super::Log;
use super::tokio;

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};

/// A directory of one program, which is gone with it.
struct Dir(PathBuf);

impl Dir {
    fn new(program: &str) -> Self {
        let path = PathBuf::from(format!("/tmp/detsim-worlds-{program}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn kind(path: &Path) -> String {
    match fs::symlink_metadata(path) {
        Ok(known) => {
            let is_socket = known.file_type().is_socket();
            format!("socket {is_socket} {:o} {}", known.permissions().mode(), known.len())
        }
        Err(error) => format!("{:?}", error.raw_os_error()),
    }
}

/// One byte there and back over a listener and a client of it.
async fn meets(listener: &UnixListener, path: &Path) -> String {
    let mut client = match UnixStream::connect(path).await {
        Ok(client) => client,
        Err(error) => return format!("error {:?}", error.raw_os_error()),
    };
    let (mut server, _) = listener.accept().await.unwrap();
    client.write_all(b"x").await.unwrap();
    let mut told = [0; 1];
    server.read_exact(&mut told).await.unwrap();
    format!("met by {}", String::from_utf8_lossy(&told))
}

pub(crate) async fn a_bound_socket_is_a_file(log: Log) {
    let dir = Dir::new("file");
    let path = dir.at("s");
    log.add(path.exists());
    let listener = UnixListener::bind(&path).unwrap();
    log.add(path.exists());
    log.add(kind(&path));
    log.add(path.metadata().unwrap().file_type().is_socket());
    for entry in fs::read_dir(&dir.0).unwrap() {
        let entry = entry.unwrap();
        log.add(format!("{:?} {}", entry.file_name(), entry.file_type().unwrap().is_socket()));
    }
    log.done("chmod", fs::set_permissions(&path, fs::Permissions::from_mode(0o600)));
    log.add(kind(&path));
    log.add(meets(&listener, &path).await);
    drop(listener);
    log.add(kind(&path));
    log.done("remove", fs::remove_file(&path));
    log.add(kind(&path));
}

pub(crate) async fn a_file_of_this_name_is_in_the_way(log: Log) {
    let dir = Dir::new("way");
    fs::write(dir.at("file"), "text").unwrap();
    fs::create_dir(dir.at("dir")).unwrap();
    symlink(dir.at("nowhere"), dir.at("link")).unwrap();
    drop(UnixListener::bind(dir.at("stale")).unwrap());
    let _living = UnixListener::bind(dir.at("living")).unwrap();
    let names = ["file", "dir", "link", "stale", "living", "none/s", "file/s", ".", "new/"];
    for name in names {
        log.done(&format!("listen {name}"), UnixListener::bind(dir.at(name)));
        log.done(&format!("datagram {name}"), UnixDatagram::bind(dir.at(name)));
        let socket = UnixSocket::new_stream().unwrap();
        log.done(&format!("socket {name}"), socket.bind(dir.at(name)));
    }
    log.add(kind(&dir.at("nowhere")));
}

pub(crate) async fn names_that_lead_to_nobody(log: Log) {
    let dir = Dir::new("nobody");
    fs::write(dir.at("file"), "text").unwrap();
    fs::create_dir(dir.at("dir")).unwrap();
    symlink(dir.at("loop"), dir.at("loop")).unwrap();
    drop(UnixListener::bind(dir.at("stale")).unwrap());
    let _datagram = UnixDatagram::bind(dir.at("datagram")).unwrap();
    let _listener = UnixListener::bind(dir.at("listener")).unwrap();
    let unbound = UnixDatagram::unbound().unwrap();
    let names =
        ["file", "dir", "stale", "missing", "none/s", "file/s", "loop", "datagram", "stale/"];
    for name in names {
        log.done(&format!("connect {name}"), UnixStream::connect(dir.at(name)).await);
    }
    for name in ["file", "dir", "stale", "missing", "listener", "loop", "datagram"] {
        log.done(&format!("send to {name}"), unbound.send_to(b"x", dir.at(name)).await);
        log.done(&format!("peer {name}"), unbound.connect(dir.at(name)));
    }
    log.done("open", fs::File::open(dir.at("listener")));
    log.done("write", fs::OpenOptions::new().write(true).open(dir.at("stale")));
    log.done("create", fs::OpenOptions::new().append(true).create(true).open(dir.at("stale")));
    let at_all = fs::OpenOptions::new().read(true).custom_flags(0o10_000_000).open(dir.at("stale"));
    log.done("path only", at_all);
    log.done("copy", fs::copy(dir.at("stale"), dir.at("copy")));
}

pub(crate) async fn a_name_that_is_removed_is_free(log: Log) {
    let dir = Dir::new("removed");
    let path = dir.at("s");
    let old = UnixListener::bind(&path).unwrap();
    let mut waiting = UnixStream::connect(&path).await.unwrap();
    fs::remove_file(&path).unwrap();
    log.done("gone", UnixStream::connect(&path).await);
    let new = UnixListener::bind(&path).unwrap();
    log.add(meets(&new, &path).await);
    let (mut accepted, _) = old.accept().await.unwrap();
    accepted.write_all(b"old").await.unwrap();
    let mut told = [0; 3];
    waiting.read_exact(&mut told).await.unwrap();
    log.add(String::from_utf8_lossy(&told));
    log.add(format!("{:?}", old.local_addr().unwrap().as_pathname() == Some(&path)));
    drop(old);
    log.add(meets(&new, &path).await);
    drop(new);
    log.done("stale", UnixStream::connect(&path).await);
    log.done("again", UnixListener::bind(&path));
    fs::remove_file(&path).unwrap();
    log.done("again", UnixListener::bind(&path));
}

pub(crate) async fn a_socket_goes_by_all_its_names(log: Log) {
    let dir = Dir::new("names");
    fs::create_dir(dir.at("dir")).unwrap();
    let listener = UnixListener::bind(dir.at("dir/../first")).unwrap();
    log.add(meets(&listener, &dir.at("first")).await);
    log.add(meets(&listener, &dir.at("./dir/.././first")).await);
    fs::rename(dir.at("first"), dir.at("dir/second")).unwrap();
    log.add(meets(&listener, &dir.at("first")).await);
    log.add(meets(&listener, &dir.at("dir/second")).await);
    fs::hard_link(dir.at("dir/second"), dir.at("third")).unwrap();
    symlink("dir/second", dir.at("fourth")).unwrap();
    fs::remove_file(dir.at("dir/second")).unwrap();
    log.add(meets(&listener, &dir.at("third")).await);
    log.add(meets(&listener, &dir.at("fourth")).await);
    fs::rename(dir.at("third"), dir.at("dir/second")).unwrap();
    log.add(meets(&listener, &dir.at("fourth")).await);
    let client = UnixStream::connect(dir.at("fourth")).await.unwrap();
    // What a peer is called is how it was bound.
    let peer = client.peer_addr().unwrap();
    log.add(peer.as_pathname() == Some(&dir.at("dir/../first")));
    // The socket of another name takes the place of the first one's.
    let other = UnixListener::bind(dir.at("other")).unwrap();
    fs::rename(dir.at("other"), dir.at("dir/second")).unwrap();
    log.add(meets(&other, &dir.at("fourth")).await);
}

pub(crate) async fn paths_that_are_too_long(log: Log) {
    let dir = Dir::new("long");
    let of = |len: usize| {
        let begin = dir.at("");
        let rest = len - begin.as_os_str().len();
        begin.join("x".repeat(rest))
    };
    for len in [107, 108, 300] {
        let path = of(len);
        log.done("listen", UnixListener::bind(&path));
        let text = |error: Option<io::Error>| error.map_or_else(String::new, |e| e.to_string());
        log.add(text(UnixListener::bind(of(len)).err()).replace("os error", ""));
        log.add(text(UnixStream::connect(&path).await.err()).replace("os error", ""));
        log.add(text(UnixDatagram::bind(&path).err()).replace("os error", ""));
        let socket = UnixSocket::new_stream().unwrap();
        log.add(text(socket.bind(&path).err()).replace("os error", ""));
    }
    for path in ["/tmp/with\0zero", "", "\0"] {
        log.done("connect", UnixStream::connect(path).await);
        let text = |error: io::Error| error.to_string();
        log.add(UnixDatagram::bind(path).map_or_else(text, |_| "bound".to_owned()));
        log.add(UnixListener::bind(path).map_or_else(text, |_| "bound".to_owned()));
    }
}

pub(crate) async fn datagrams_have_files_too(log: Log) {
    let dir = Dir::new("datagrams");
    let (a, b) = (UnixDatagram::bind(dir.at("a")).unwrap(), UnixDatagram::unbound().unwrap());
    log.add(kind(&dir.at("a")));
    fs::rename(dir.at("a"), dir.at("moved")).unwrap();
    b.connect(dir.at("moved")).unwrap();
    log.result("send", b.send(b"x").await);
    let (len, from) = a.recv_from(&mut [0; 4]).await.unwrap();
    log.add(format!("{len} {}", from.is_unnamed()));
    drop(a);
    log.done("to the dead", b.send(b"x").await);
    log.done("and again", b.send(b"x").await);
    log.done("by name", b.send_to(b"x", dir.at("moved")).await);
    let socket = UnixSocket::new_datagram().unwrap();
    log.done("stale", socket.bind(dir.at("moved")));
    fs::remove_file(dir.at("moved")).unwrap();
    log.done("free", socket.bind(dir.at("moved")));
    log.done("twice", socket.bind(dir.at("other")));
    log.add(kind(&dir.at("other")));
    log.done("in the way", socket.bind(dir.at("moved")));
    let c = socket.datagram().unwrap();
    log.add(c.local_addr().unwrap().as_pathname() == Some(&dir.at("moved")));
}

pub(crate) async fn a_directory_of_a_socket_is_not_empty(log: Log) {
    let dir = Dir::new("full");
    fs::create_dir(dir.at("dir")).unwrap();
    let listener = UnixListener::bind(dir.at("dir/s")).unwrap();
    log.done("remove", fs::remove_dir(dir.at("dir")));
    fs::rename(dir.at("dir"), dir.at("moved")).unwrap();
    log.add(meets(&listener, &dir.at("moved/s")).await);
    log.done("all", fs::remove_dir_all(dir.at("moved")));
    log.add(meets(&listener, &dir.at("moved/s")).await);
}

pub(crate) async fn relative_paths_meet_absolute_ones(log: Log) {
    // Nobody else of this process uses this name in the directory that it was started in.
    let name = format!("detsim-worlds-relative-{}", std::process::id());
    let listener = UnixListener::bind(&name).unwrap();
    log.add(listener.local_addr().unwrap().as_pathname() == Some(Path::new(&name)));
    let absolute = std::env::current_dir().unwrap().join(&name);
    log.add(kind(&absolute));
    fs::rename(&name, format!("{name}-moved")).unwrap();
    log.add(meets(&listener, Path::new(&format!("./{name}-moved"))).await);
    fs::remove_file(format!("{name}-moved")).unwrap();
}
