//! The parent's end of a worker: starting it, asking it, and ending it.
//!
//! Owns: the process and the connection. Does not own: which seeds are asked for, nor what becomes
//! of a seed whose worker was lost. Invariant: the thread that starts a worker is the one that
//! waits for its answers and drops it, because the worker dies with that thread.

use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::judge::{End, Name};
use super::protocol::{FRAME_BYTES_MAX, Hello, Malformed, Ran, Request, VERSION};
use super::sys;
use crate::config;
use crate::console;
use crate::spec::Spec;

/// A worker that is ready.
#[derive(Debug)]
pub(crate) struct Worker {
    process: Child,
    link: BufReader<UnixStream>,
    /// The thread that forks, to pin.
    thread: i32,
}

/// A worker that is none any more, and why.
#[derive(Debug)]
pub(crate) struct Lost(String);

impl Lost {
    pub(crate) fn new(why: &str) -> Self {
        Self(why.to_owned())
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a worker finds its end of the connection: above what programs use.
const LINK_FD: i32 = 200;

/// Time that a worker has to come up; it takes milliseconds.
const READY_WITHIN: Duration = Duration::from_secs(60);

impl Worker {
    /// Starts this test's binary again as a worker.
    pub(crate) fn start(spec: &Spec) -> Result<Self, Lost> {
        let (ours, theirs) = UnixStream::pair().map_err(|error| cannot_start(&error))?;
        let mut command = Command::new("/proc/self/exe");
        command
            .args([spec.test_name(), "--exact", "--nocapture", "--test-threads=1"])
            .arg("--include-ignored")
            .env(config::WORKER, format!("{VERSION}:{LINK_FD}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        for name in config::PARENT_ONLY {
            command.env_remove(name);
        }
        sys::isolate(&mut command, theirs.into(), LINK_FD);
        let process = command.spawn().map_err(|error| cannot_start(&error))?;
        // The command holds the worker's end: only without it does the worker's death end a read.
        drop(command);
        let mut worker = Self { process, link: BufReader::new(ours), thread: 0 };
        worker.thread = worker.hello(spec)?.thread;
        Ok(worker)
    }

    fn hello(&mut self, spec: &Spec) -> Result<Hello, Lost> {
        self.wait_at_most(Some(READY_WITHIN))?;
        let frame = self.frame().map_err(|error| self.not_ready(spec, &error))?;
        self.wait_at_most(None)?;
        let hello = Hello::decode(&frame).map_err(unreadable)?;
        if hello.test != spec.id() {
            return Err(Lost(format!(
                "the worker for {} serves another test; a test function sweeps once",
                spec.test_name()
            )));
        }
        if !hello.addresses_repeat {
            console::announce(
                "detsim: this system refuses to fix addresses (personality); what hashes them, \
                 such as ahash, will differ from process to process; in Docker, \
                 --security-opt seccomp=unconfined allows it",
            );
        }
        Ok(hello)
    }

    fn wait_at_most(&self, time: Option<Duration>) -> Result<(), Lost> {
        self.link.get_ref().set_read_timeout(time).map_err(|error| cannot_start(&error))
    }

    /// Keeps the worker, and every child from now on, on one processor.
    pub(crate) fn pin(&self, cpu: usize) {
        sys::pin(self.thread, cpu);
    }

    /// Sends a request, and the set of choices that it announces; [`Worker::answer`] is then due
    /// `count` times.
    pub(crate) fn ask(&mut self, request: &Request, set: &[u8]) -> Result<(), Lost> {
        let link = self.link.get_mut();
        let sent = link.write_all(&request.encode()).and_then(|()| link.write_all(set));
        sent.map_err(|error| self.lost(&error))
    }

    /// The next answer.
    pub(crate) fn answer(&mut self) -> Result<Ran, Lost> {
        let frame = self.frame().map_err(|error| self.lost(&error))?;
        Ran::decode(&frame).map_err(unreadable)
    }

    fn frame(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.link.read_exact(&mut length)?;
        let bytes = u32::from_le_bytes(length) as usize;
        if !(length.len()..=FRAME_BYTES_MAX).contains(&bytes) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame of impossible length"));
        }
        let mut frame = vec![0; bytes];
        frame[..length.len()].copy_from_slice(&length);
        self.link.read_exact(&mut frame[length.len()..])?;
        Ok(frame)
    }

    fn not_ready(&mut self, spec: &Spec, error: &io::Error) -> Lost {
        Lost(format!(
            "the worker was not ready: {}; it was asked for the test {}; does the test harness \
             know it by that name?",
            self.lost(error),
            spec.test_name()
        ))
    }

    fn lost(&mut self, error: &io::Error) -> Lost {
        // It is gone, or of no use any more.
        let _gone = self.process.kill();
        Lost(match self.process.wait() {
            Ok(status) => {
                format!("its process ended with {} ({error})", Name(End::of(status.into_raw())))
            }
            Err(_) => error.to_string(),
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _reaped = self.process.wait();
    }
}

fn cannot_start(error: &io::Error) -> Lost {
    Lost(format!("no worker process can be started: {error}"))
}

fn unreadable(malformed: Malformed) -> Lost {
    Lost(format!("the worker's answer is broken: {}", malformed.0))
}
