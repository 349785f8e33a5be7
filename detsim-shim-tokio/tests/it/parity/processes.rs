//! Processes: every method, by its type.
#![expect(dead_code, reason = "it is compiled, not called")]

use super::tokio;
use crate::parity::any;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::process::{Command as StdCommand, ExitStatus, Output, Stdio};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::*;

type Setter<T> = fn(&mut Command, T) -> &mut Command;

pub(in crate::parity) fn command(command: &mut Command) {
    let _: fn(&'static str) -> Command = Command::new;
    let _: fn(&Command) -> &StdCommand = Command::as_std;
    let _: fn(&mut Command) -> &mut StdCommand = Command::as_std_mut;
    let _: fn(Command) -> StdCommand = Command::into_std;
    let _: fn(StdCommand) -> Command = Command::from;
    let _: [Setter<&'static str>; 3] = [Command::arg, Command::env_remove, Command::arg0];
    let _: Setter<[&'static str; 2]> = Command::args;
    let _: Setter<[(&'static str, &'static str); 2]> = Command::envs;
    let _: fn(&mut Command) -> &mut Command = Command::env_clear;
    let _: Setter<&'static Path> = Command::current_dir;
    let _: [Setter<Stdio>; 3] = [Command::stdin, Command::stdout, Command::stderr];
    let _: Setter<bool> = Command::kill_on_drop;
    let _: fn(&Command) -> bool = Command::get_kill_on_drop;
    let _: [Setter<u32>; 2] = [Command::uid, Command::gid];
    let _: Setter<i32> = Command::process_group;
    let _ = Command::pre_exec::<fn() -> io::Result<()>>;
    let _: fn(&mut Command) -> io::Result<Child> = Command::spawn;
    let _: &mut Command = command.env("key", "value");
}

pub(in crate::parity) async fn child(mut command: Command) {
    let _: io::Result<ExitStatus> = command.status().await;
    let _: io::Result<Output> = command.output().await;
    let _: fn(&Child) -> Option<u32> = Child::id;
    let _: fn(&mut Child) -> io::Result<()> = Child::start_kill;
    let _: fn(&mut Child) -> io::Result<Option<ExitStatus>> = Child::try_wait;
    let _: io::Result<()> = Child::kill(any::<&mut Child>()).await;
    let _: io::Result<ExitStatus> = Child::wait(any::<&mut Child>()).await;
    let _: io::Result<Output> = Child::wait_with_output(any::<Child>()).await;
}

fn reads<T: AsyncRead + AsFd + AsRawFd>() {}

fn writes<T: AsyncWrite + AsFd + AsRawFd>() {}

pub(in crate::parity) fn pipes() {
    reads::<ChildStdout>();
    reads::<ChildStderr>();
    writes::<ChildStdin>();
}
