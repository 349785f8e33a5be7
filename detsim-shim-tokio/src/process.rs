//! Processes, which a simulation does not have.
//!
//! Mirrors `tokio::process`. Owns: [`Command`], which is built as tokio's and starts nothing: a real
//! process would run in real time, beside the seed. Does not own: the types of running processes, which
//! are tokio's own; there is never one of them.
#![expect(unsafe_code, reason = "a declaration that tokio has as unsafe; there is no unsafe block")]

use crate::context;
use crate::runtime::scope;
use std::ffi::OsStr;
use std::future::{Future, ready};
use std::io;
use std::path::Path;
use std::process::{Command as StdCommand, ExitStatus, Output, Stdio};

pub use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

/// A process to be started, which in a simulation it cannot be.
///
/// # Examples
/// ```
/// use detsim_shim_tokio::process::Command;
/// let sim = detsim_executor::Sim::new(7);
/// let error = sim.block_on(async { Command::new("ls").arg("-l").spawn().unwrap_err() });
/// assert_eq!(error.unwrap().kind(), std::io::ErrorKind::Unsupported);
/// ```
#[derive(Debug)]
pub struct Command {
    std: StdCommand,
    kill_on_drop: bool,
}

/// What std's builder does, on the command inside.
macro_rules! builds {
    ($($(#[$doc:meta])* $name:ident $([$($generics:tt)*])? ($($arg:ident: $type:ty),*);)*) => { $(
        $(#[$doc])*
        pub fn $name $(<$($generics)*>)? (&mut self, $($arg: $type),*) -> &mut Self {
            self.std.$name($($arg),*);
            self
        }
    )* };
}

impl Command {
    /// A command that would run `program`.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Self {
        Self::from(StdCommand::new(program))
    }

    /// The command as std's.
    pub fn as_std(&self) -> &StdCommand {
        &self.std
    }

    /// The command as std's.
    pub fn as_std_mut(&mut self) -> &mut StdCommand {
        &mut self.std
    }

    /// The command as std's.
    pub fn into_std(self) -> StdCommand {
        self.std
    }

    builds! {
        /// An argument.
        arg[S: AsRef<OsStr>](arg: S);
        /// Arguments.
        args[I: IntoIterator<Item = S>, S: AsRef<OsStr>](args: I);
        /// A variable of its environment.
        env[K: AsRef<OsStr>, V: AsRef<OsStr>](key: K, val: V);
        /// Variables of its environment.
        envs[I: IntoIterator<Item = (K, V)>, K: AsRef<OsStr>, V: AsRef<OsStr>](vars: I);
        /// A variable that it is not to inherit.
        env_remove[K: AsRef<OsStr>](key: K);
        /// No variable is inherited.
        env_clear();
        /// Where it is to begin.
        current_dir[P: AsRef<Path>](dir: P);
        /// Where it reads.
        stdin[T: Into<Stdio>](cfg: T);
        /// Where it writes.
        stdout[T: Into<Stdio>](cfg: T);
        /// Where it writes what is wrong.
        stderr[T: Into<Stdio>](cfg: T);
    }

    /// Whether it is to end with its handle.
    pub fn kill_on_drop(&mut self, kill_on_drop: bool) -> &mut Self {
        self.kill_on_drop = kill_on_drop;
        self
    }

    /// Whether it is to end with its handle.
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Starts it, and would give a handle to it.
    ///
    /// # Errors
    /// Always: `Unsupported`.
    ///
    /// # Panics
    /// Where there is no runtime, in tokio's words.
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        match scope::current() {
            None => context::missing(),
            Some(_) => Err(self.unsupported()),
        }
    }

    /// Starts it and waits for its end.
    ///
    /// # Errors
    /// Always: `Unsupported`.
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        ready(Err(self.unsupported()))
    }

    /// Starts it and waits for its end and its output.
    ///
    /// # Errors
    /// Always: `Unsupported`.
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + use<> {
        ready(Err(self.unsupported()))
    }

    fn unsupported(&self) -> io::Error {
        let program = self.std.get_program().display();
        let text = format!(
            "detsim: {program} was not started; a simulation has no processes; simulate what it does, \
             as a node or a task"
        );
        io::Error::new(io::ErrorKind::Unsupported, text)
    }
}

#[cfg(unix)]
impl Command {
    /// Whose it is to be.
    pub fn uid(&mut self, id: u32) -> &mut Self {
        std::os::unix::process::CommandExt::uid(&mut self.std, id);
        self
    }

    /// Which group's it is to be.
    pub fn gid(&mut self, id: u32) -> &mut Self {
        std::os::unix::process::CommandExt::gid(&mut self.std, id);
        self
    }

    /// What it is told that its name is.
    pub fn arg0<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Self {
        std::os::unix::process::CommandExt::arg0(&mut self.std, arg);
        self
    }

    /// Which group of processes it is to be in.
    pub fn process_group(&mut self, pgroup: i32) -> &mut Self {
        std::os::unix::process::CommandExt::process_group(&mut self.std, pgroup);
        self
    }

    /// What is to run in it before the program does. As no process is ever started, it never is.
    ///
    /// # Safety
    /// As tokio's says; here nothing is asked for.
    pub unsafe fn pre_exec<F>(&mut self, f: F) -> &mut Self
    where
        F: FnMut() -> io::Result<()> + Send + Sync + 'static,
    {
        drop(f);
        self
    }
}

impl From<StdCommand> for Command {
    fn from(std: StdCommand) -> Self {
        Self { std, kill_on_drop: false }
    }
}
