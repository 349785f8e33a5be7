//! Signals of Unix, simulated.
//!
//! Mirrors `tokio::signal::unix`. Owns: [`Signal`] and [`SignalKind`], by the numbers of Linux.

use super::listener::Listener;
use crate::context;
use crate::runtime::scope;
use std::io;
use std::os::raw::c_int;
use std::task::{Context, Poll};

/// Signals that no process can take: SIGILL, SIGFPE, SIGKILL, SIGSEGV and SIGSTOP.
const FORBIDDEN: [c_int; 5] = [4, 8, 9, 11, 19];

/// tokio's words where there is no io.
const NO_IO: &str =
    "there is no signal driver running, must be called from the context of Tokio runtime";

/// Names a signal.
#[derive(Debug, Clone, Copy, Hash, PartialEq, Eq)]
pub struct SignalKind(c_int);

/// The signals that have a name.
macro_rules! named {
    ($($name:ident = $number:literal, $text:literal;)*) => { $(
        #[doc = concat!($text, ".")]
        pub const fn $name() -> Self {
            Self($number)
        }
    )* };
}

impl SignalKind {
    /// The signal of this number.
    pub const fn from_raw(signum: c_int) -> Self {
        Self(signum)
    }

    /// Its number.
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }

    named! {
        alarm = 14, "SIGALRM: a timer of the process has run out";
        child = 17, "SIGCHLD: a child has changed";
        hangup = 1, "SIGHUP: the terminal is gone";
        interrupt = 2, "SIGINT: the key that interrupts";
        io = 29, "SIGIO: something can be read or written";
        pipe = 13, "SIGPIPE: nobody reads any more";
        quit = 3, "SIGQUIT: the key that quits";
        terminate = 15, "SIGTERM: a request to end";
        user_defined1 = 10, "SIGUSR1";
        user_defined2 = 12, "SIGUSR2";
        window_change = 28, "SIGWINCH: the terminal has another size";
    }
}

impl From<c_int> for SignalKind {
    fn from(signum: c_int) -> Self {
        Self::from_raw(signum)
    }
}

impl From<SignalKind> for c_int {
    fn from(kind: SignalKind) -> Self {
        kind.as_raw_value()
    }
}

/// Hears of a signal, each time that the node is sent it. Made by [`signal`].
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Signal {
    listener: Listener,
}

/// Listens for a signal, which from now on does nothing else to the node.
///
/// # Errors
/// For a signal that no process can take, and for no signal at all.
///
/// # Panics
/// Outside of a runtime, and in one without io, in tokio's words.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::signal::unix::{SignalKind, signal};
/// let sim = detsim_executor::Sim::new(7);
/// let node = sim.node("n1");
/// let server = node.spawn("server", async {
///     let mut hangups = signal(SignalKind::hangup()).unwrap();
///     hangups.recv().await
/// });
/// sim.after(std::time::Duration::from_secs(1), move || node.signal(1));
/// sim.run().unwrap();
/// assert!(server.is_finished());
/// ```
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    match scope::current() {
        None => context::missing(),
        Some(runtime) => assert!(runtime.settings().io, "{NO_IO}"),
    }
    let SignalKind(signal) = kind;
    if signal <= 0 || FORBIDDEN.contains(&signal) {
        return Err(io::Error::other(format!("Refusing to register signal {signal}")));
    }
    Ok(Signal { listener: Listener::of(signal) })
}

impl Signal {
    /// Waits for the signal. Cancel safe.
    pub async fn recv(&mut self) -> Option<()> {
        self.listener.recv().await;
        Some(())
    }

    /// Polls for the signal.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.listener.poll_recv(cx).map(Some)
    }
}
