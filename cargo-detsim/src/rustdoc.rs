//! In place of rustdoc, which compiles and runs the examples in a project's documentation.
//!
//! Not by `RUSTDOCFLAGS`: they would replace the flags that a project configures.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::graph::Plan;
use cargo_detsim::failure::{Failure, Result};

/// Becomes rustdoc, able to find the kernel behind the project's tokio.
pub(crate) fn run(plan: &Plan, args: Vec<OsString>) -> Result<ExitCode> {
    let mut command = Command::new("rustdoc");
    command.args(args);
    for dir in &plan.kernel.search {
        let mut place = OsString::from("dependency=");
        place.push(dir);
        command.arg("-L").arg(place);
    }
    let error = command.exec();
    Err(Failure::start(&command, &error))
}
