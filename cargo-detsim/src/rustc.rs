//! In place of the compiler: where tokio is compiled, the shim takes its place.
//!
//! Cargo asks for one crate `tokio` and gets two: the same source as `tokio_real`, and the shim as
//! `tokio`, with tokio's features, the real one and the kernel in reach. Every other crate of the
//! target is compiled as cargo says, able to find the kernel behind its tokio. One `cfg` is set besides: rustix,
//! which makes calls of the system by itself, makes them through libc, where a run hears of them. Invariant:
//! what is built for the host (build scripts, proc macros) passes through untouched.

mod invocation;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::graph::Plan;
use cargo_detsim::failure::{Failure, Result};
use invocation::Invocation;

/// Runs the compiler, `args[0]`, with the rest.
pub(crate) fn run(plan: &Plan, args: Vec<OsString>) -> Result<ExitCode> {
    let mut args = args.into_iter();
    let Some(compiler) = args.next() else {
        return Err(Failure::new("detsim: this name is for cargo alone to call"));
    };
    let mut invocation = Invocation::new(args.collect());
    if !invocation.is_for_target() {
        return exec(compiler, invocation);
    }
    invocation.call_libc();
    let Some(tokio) = plan.tokio.iter().find(|file| invocation.compiles(file)) else {
        invocation.search(&plan.kernel.search);
        return exec(compiler, invocation);
    };
    let status = Command::new(&compiler).args(invocation.real().into_args()).status();
    let status = status.map_err(|error| Failure::start(&Command::new(&compiler), &error))?;
    match status.success() {
        true => exec(compiler, invocation.shim(tokio, plan)),
        false => Ok(ExitCode::FAILURE),
    }
}

/// Becomes the compiler.
fn exec(compiler: OsString, invocation: Invocation) -> Result<ExitCode> {
    let mut command = Command::new(compiler);
    let error = command.args(invocation.into_args()).exec();
    Err(Failure::start(&command, &error))
}
