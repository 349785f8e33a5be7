//! The worker: a process at a standstill that forks a child for every seed.
//!
//! Invariants: from [`Server::ready`] on, the loop read, fork, wait, write allocates nothing and
//! locks nothing, so every child starts from the same bytes; a server that ran a seed in its own
//! process refuses to fork.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::thread;

use super::protocol::{Hello, Mode, Outputs, RanHead, Record, Request, SET_BYTES_MAX, VERSION};
use super::sys::{self, ChildEnd, Fork, Shared};
use crate::attempt::{Body, attempt};
use crate::config::{Config, WorkerLink};
use crate::interpose::entropy;
use crate::outcome::{Keeps, RunOptions};
use crate::recording;
use crate::spec::Spec;
use crate::{console, hook, log, run};

static SERVING: OnceLock<&str> = OnceLock::new();

/// The test that this process serves, if it is a worker or the child of one.
pub(crate) fn serving() -> Option<&'static str> {
    SERVING.get().copied()
}

/// Serves the parent at the other end of `link` until it hangs up.
pub(crate) fn serve(link: WorkerLink, spec: &Spec, body: Body<'_>, config: &Config) -> ! {
    let _set_once = SERVING.set(spec.path);
    let served = Server::ready(link, spec, body, config).and_then(|mut server| server.answer_all());
    match served {
        // The parent has hung up.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => sys::exit_now(0),
        Err(error) => {
            console::draw(&format!(
                "detsim: this process cannot serve as a worker: {error}; DETSIM_WORKER is for the \
                 processes that a sweep starts itself; unset it\n"
            ));
            sys::exit_now(1)
        }
        Ok(never) => match never {},
    }
}

struct Server<'a> {
    link: UnixStream,
    shared: Shared,
    output: File,
    /// Room for the longest set of choices; memory that was never filled costs nothing.
    set: Box<[u8]>,
    spec: &'a Spec,
    body: Body<'a>,
    strategy: Option<String>,
    process: i32,
    mapped_bytes_max: u64,
    ran_here: bool,
}

impl<'a> Server<'a> {
    /// Brings this process to a standstill and says so.
    fn ready(
        link: WorkerLink,
        spec: &'a Spec,
        body: Body<'a>,
        config: &Config,
    ) -> io::Result<Self> {
        if link.version != u32::from(VERSION) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let link = sys::take_link(link.fd)?;
        let (process, thread) = sys::ids();
        sys::one_heap();
        let server = Self {
            link,
            shared: Shared::new()?,
            output: sys::output_file()?,
            set: vec![0; SET_BYTES_MAX].into_boxed_slice(),
            spec,
            body,
            strategy: config.strategy.clone().or_else(|| spec.strategy.map(str::to_owned)),
            process,
            mapped_bytes_max: sys::mapped_bytes().saturating_add(spec.limits.memory_bytes),
            ran_here: false,
        };
        server.prepare_runs(config);
        if !sys::freeze_main_thread() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let addresses_repeat = sys::addresses_repeat();
        (&server.link).write_all(&Hello { thread, addresses_repeat, test: spec.id() }.encode())?;
        Ok(server)
    }

    /// What every child inherits.
    fn prepare_runs(&self, config: &Config) {
        let shared = self.shared;
        hook::replace(move |note| shared.put_note(&note.encode(sys::NOTE_BYTES_MAX)));
        entropy::serve_whole_process();
        if let Some(filter) = &config.log {
            log::enable(filter);
        }
    }

    fn answer_all(&mut self) -> io::Result<Infallible> {
        loop {
            let mut bytes = [0; Request::BYTES];
            self.link.read_exact(&mut bytes)?;
            let Ok(request) = Request::decode(&bytes) else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            let set_bytes = request.set_bytes.unwrap_or(0) as usize;
            self.link.read_exact(&mut self.set[..set_bytes])?;
            for offset in 0..request.count {
                self.answer(&request, request.first + offset)?;
            }
        }
    }

    fn answer(&mut self, request: &Request, seed: u64) -> io::Result<()> {
        self.shared.clear();
        self.output.seek(SeekFrom::Start(0))?;
        let busy_ns_before = sys::busy_ns();
        let end = match request.mode {
            Mode::Fork => self.run_in_child(seed, request)?,
            Mode::InProcess => self.run_here(seed, request),
        };
        let busy_ns = sys::busy_ns() - busy_ns_before + end.busy_ns;
        let head = RanHead { seed, status: end.status, busy_ns, ..RanHead::default() };
        self.send(head, request.outputs)
    }

    fn run_in_child(&self, seed: u64, request: &Request) -> io::Result<ChildEnd> {
        if self.ran_here {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        match sys::fork()? {
            Fork::Parent(pid) => sys::wait(pid),
            Fork::Child => {
                sys::adopt_by(self.process, self.mapped_bytes_max);
                sys::redirect_output(&self.output);
                self.run(seed, request);
                sys::exit_now(0)
            }
        }
    }

    /// Runs a seed in this process, on a thread of its own: that alone gives it std's hash keys
    /// and thread-locals afresh. There is no child to end, so none ended badly.
    fn run_here(&mut self, seed: u64, request: &Request) -> ChildEnd {
        if !self.ran_here {
            self.ran_here = true;
            sys::redirect_output(&self.output);
        }
        let server = &*self;
        let named = thread::Builder::new().name(self.spec.test_name().to_owned());
        thread::scope(|scope| {
            let run = named.spawn_scoped(scope, || server.run(seed, request));
            // Without a record the parent counts the seed as failed, and tries it in a child.
            let _no_thread_or_panicked = run.map(|run| run.join());
        });
        ChildEnd::default()
    }

    /// One seed, from the watchdog's first tick to the record.
    fn run(&self, seed: u64, request: &Request) {
        sys::watch(self.shared, self.spec.limits.stuck_after, run::progress);
        hook::print_stacks(request.keeps == Keeps::All);
        let set = request.set_bytes.map(|bytes| &self.set[..bytes as usize]);
        let options = RunOptions {
            keeps: request.keeps,
            replay: set.map(|set| recording::decode(set).expect("invariant: the parent encodes")),
            strategy: self.strategy.clone(),
        };
        let outcome = attempt(self.body, seed, &options);
        let _closed_by_the_test = io::stdout().flush();
        if let Some(recording) = &outcome.recording {
            self.shared.put_recording(&recording.encode(sys::RECORDING_BYTES_MAX));
        }
        self.shared.put_record(&Record::encode_ended(&outcome, sys::RECORD_BYTES_MAX));
    }

    /// Sends what the run left behind. The output of a run whose record says that it passed is
    /// dropped here, unless all are asked for.
    fn send(&mut self, head: RanHead, outputs: Outputs) -> io::Result<()> {
        let (note, record) = (self.shared.note(), self.shared.record());
        let recording = self.shared.recording();
        let printed = self.output.stream_position()?.min(sys::OUTPUT_BYTES_MAX);
        let wanted = match outputs {
            Outputs::All => true,
            Outputs::Failing => head.status != 0 || !Record::is_pass(record),
            Outputs::None => false,
        };
        let output_bytes = if wanted { printed } else { 0 };
        let head = RanHead {
            note_bytes: note.len() as u32,
            record_bytes: record.len() as u32,
            recording_bytes: recording.len() as u32,
            output_bytes: output_bytes as u32,
            ..head
        };
        let mut whole = [0; SMALL_BYTES];
        match gather(&mut whole, &[&head.encode(), note, record, recording]) {
            Some(small) => self.link.write_all(small)?,
            None => {
                self.link.write_all(&head.encode())?;
                self.link.write_all(note)?;
                self.link.write_all(record)?;
                self.link.write_all(recording)?;
            }
        }
        self.send_output(output_bytes)?;
        sys::forget(&self.output, printed);
        Ok(())
    }

    fn send_output(&mut self, bytes: u64) -> io::Result<()> {
        let mut block = [0; 16 << 10];
        let mut sent = 0;
        while sent < bytes {
            let room = block.len().min((bytes - sent) as usize);
            let read = self.output.read_at(&mut block[..room], sent)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.link.write_all(&block[..read])?;
            sent += read as u64;
        }
        Ok(())
    }
}

/// Frames up to this length go out in one write.
const SMALL_BYTES: usize = 1024;

/// Copies the parts one after the other; `None` where there is no room for all.
fn gather<'a>(room: &'a mut [u8; SMALL_BYTES], parts: &[&[u8]]) -> Option<&'a [u8]> {
    let mut filled = 0;
    for part in parts {
        room.get_mut(filled..filled + part.len())?.copy_from_slice(part);
        filled += part.len();
    }
    Some(&room[..filled])
}
