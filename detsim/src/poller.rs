//! Which descriptors of the operating system are ready.
//!
//! Owns: [`Poller`], an `epoll` of Linux that reports each change once. Does not own: who waits for a
//! descriptor, or when it is asked. Invariants: a poller neither owns nor closes what it watches; what it
//! reports is in the order in which it was told of the descriptors, whichever changed first.
#![expect(unsafe_code, reason = "calls of libc that std does not have")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use detsim_executor::threads;

/// Tells which descriptors of the operating system are ready.
///
/// Each change is told once: to whoever asks first after it has happened.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

/// What is to be told of a descriptor; errors and the end of its peer always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// That it can be read.
    pub reads: bool,
    /// That it can be written.
    pub writes: bool,
    /// That there is something urgent to read.
    pub priority: bool,
}

/// What has happened to a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happened {
    /// The number that it was given.
    pub token: u64,
    events: u32,
}

/// What a descriptor was opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// It can be read.
    pub reads: bool,
    /// It can be written.
    pub writes: bool,
}

/// What a descriptor was opened for.
///
/// # Errors
/// EBADF for one that was closed.
pub fn access_of(fd: BorrowedFd<'_>) -> io::Result<Access> {
    // SAFETY: the call takes numbers and gives one.
    let flags = checked(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })?;
    let mode = flags & libc::O_ACCMODE;
    Ok(Access { reads: mode != libc::O_WRONLY, writes: mode != libc::O_RDONLY })
}

impl Wanted {
    /// In C's words.
    pub(crate) fn bits(self) -> u32 {
        let flags = [
            (self.reads, libc::EPOLLIN | libc::EPOLLRDHUP),
            (self.writes, libc::EPOLLOUT),
            (self.priority, libc::EPOLLPRI),
        ];
        let wanted = flags.iter().filter(|(is_wanted, _)| *is_wanted);
        wanted.fold(0, |all, (_, flag)| all | *flag as u32)
    }
}

/// Descriptors that one call of the system tells of.
const EVENTS_MAX: usize = 64;

impl Poller {
    /// A poller that watches nothing yet.
    ///
    /// # Errors
    /// Where the process has no descriptors left.
    pub fn new() -> io::Result<Self> {
        let _ours = threads::outside();
        // SAFETY: the call takes a flag and gives a number.
        let epoll = checked(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: the descriptor is new, and nobody else's.
        Ok(Self { epoll: unsafe { OwnedFd::from_raw_fd(epoll) } })
    }

    /// Watches a descriptor from now on; what it is ready for already is told as well.
    ///
    /// # Errors
    /// EBADF for what is no descriptor, EPERM for one that is always ready, EEXIST for one that is
    /// watched.
    pub fn add(&self, fd: RawFd, token: u64, wanted: Wanted) -> io::Result<()> {
        let events = wanted.bits() | libc::EPOLLET as u32;
        let mut event = libc::epoll_event { events, u64: token };
        self.control(libc::EPOLL_CTL_ADD, fd, &mut event)
    }

    /// Watches a descriptor no more.
    ///
    /// # Errors
    /// EBADF for one that was closed meanwhile, ENOENT for one that is not watched.
    pub fn remove(&self, fd: RawFd) -> io::Result<()> {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        self.control(libc::EPOLL_CTL_DEL, fd, &mut event)
    }

    fn control(
        &self,
        what: libc::c_int,
        fd: RawFd,
        event: &mut libc::epoll_event,
    ) -> io::Result<()> {
        let _ours = threads::outside();
        // SAFETY: the event is valid for the call. A number that is no descriptor is an error.
        checked(unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), what, fd, event) }).map(drop)
    }

    /// What has happened since it was last asked: waits for something, in real time and so long at most.
    pub fn wait(&self, limit: Duration) -> Vec<Happened> {
        let mut happened = Vec::new();
        let mut limit_ms = limit.as_millis().try_into().unwrap_or(libc::c_int::MAX);
        loop {
            let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS_MAX];
            let count = self.call(&mut events, limit_ms);
            happened.extend(
                events[..count]
                    .iter()
                    .map(|&libc::epoll_event { events, u64 }| Happened { token: u64, events }),
            );
            if count < EVENTS_MAX {
                break;
            }
            limit_ms = 0;
        }
        happened.sort_by_key(|happened| happened.token);
        happened
    }

    /// How many events there were; none where a signal cut the wait short.
    fn call(&self, events: &mut [libc::epoll_event], limit_ms: libc::c_int) -> usize {
        let (epoll, room) = (self.epoll.as_raw_fd(), events.len() as libc::c_int);
        let _ours = threads::outside();
        // SAFETY: there is room for so many events.
        let count = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), room, limit_ms) };
        usize::try_from(count).unwrap_or(0)
    }
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

impl Happened {
    /// What C says in these words.
    pub(crate) fn of(token: u64, events: u32) -> Self {
        Self { token, events }
    }

    /// Has nothing happened?
    pub fn is_nothing(self) -> bool {
        self.events == 0
    }

    fn has(self, flag: libc::c_int) -> bool {
        self.events & flag as u32 != 0
    }

    /// It can be read.
    pub fn reads(self) -> bool {
        self.has(libc::EPOLLIN | libc::EPOLLPRI)
    }

    /// It can be written.
    pub fn writes(self) -> bool {
        self.has(libc::EPOLLOUT)
    }

    /// Nothing more will come from its peer.
    pub fn reads_end(self) -> bool {
        self.has(libc::EPOLLHUP) || self.has(libc::EPOLLIN) && self.has(libc::EPOLLRDHUP)
    }

    /// Nobody will read what is written.
    pub fn writes_end(self) -> bool {
        self.has(libc::EPOLLHUP)
            || self.has(libc::EPOLLOUT) && self.has(libc::EPOLLERR)
            || self.events == libc::EPOLLERR as u32
    }

    /// There is something urgent to read.
    pub fn priority(self) -> bool {
        self.has(libc::EPOLLPRI)
    }

    /// An error is pending.
    pub fn error(self) -> bool {
        self.has(libc::EPOLLERR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    const BOTH: Wanted = Wanted { reads: true, writes: true, priority: false };

    #[test]
    fn each_change_is_told_once_and_in_order() {
        let poller = Poller::new().unwrap();
        let [(mut a, mut b), (mut c, mut d)] = [(); 2].map(|()| UnixStream::pair().unwrap());
        poller.add(a.as_raw_fd(), 1, BOTH).unwrap();
        poller.add(c.as_raw_fd(), 2, BOTH).unwrap();
        let told = |happened: Vec<Happened>| {
            let shown = |h: Happened| (h.token, h.reads(), h.writes());
            happened.into_iter().map(shown).collect::<Vec<_>>()
        };
        assert_eq!(told(poller.wait(Duration::ZERO)), [(1, false, true), (2, false, true)]);
        assert_eq!(told(poller.wait(Duration::ZERO)), []);
        d.write_all(b"x").unwrap();
        b.write_all(b"x").unwrap();
        assert_eq!(told(poller.wait(Duration::ZERO)), [(1, true, true), (2, true, true)]);
        a.read_exact(&mut [0]).unwrap();
        c.read_exact(&mut [0]).unwrap();
        assert_eq!(told(poller.wait(Duration::ZERO)), []);
        drop(b);
        let end = poller.wait(Duration::ZERO)[0];
        assert!(end.reads_end() && end.writes_end() && !end.error());
        poller.remove(c.as_raw_fd()).unwrap();
        drop(d);
        assert_eq!(poller.wait(Duration::ZERO), []);
    }

    #[test]
    fn a_descriptor_tells_what_it_was_opened_for() {
        let (reads, writes) = io::pipe().unwrap();
        let access = |fd| access_of(fd).unwrap();
        assert_eq!(access(reads.as_fd()), Access { reads: true, writes: false });
        assert_eq!(access(writes.as_fd()), Access { reads: false, writes: true });
        let (socket, _peer) = UnixStream::pair().unwrap();
        assert_eq!(access(socket.as_fd()), Access { reads: true, writes: true });
    }

    #[test]
    fn what_cannot_be_watched_is_refused() {
        let poller = Poller::new().unwrap();
        let refusal = |fd| poller.add(fd, 1, BOTH).unwrap_err().raw_os_error();
        assert_eq!(refusal(-1), Some(libc::EBADF));
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        assert_eq!(refusal(file.as_raw_fd()), Some(libc::EPERM));
    }
}
