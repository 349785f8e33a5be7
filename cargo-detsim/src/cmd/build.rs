//! `cargo detsim build` and `test`: cargo's own, with the graph on the simulation.
//!
//! Owns the order of the preparations. The last step replaces this process by cargo, which then
//! has the terminal, the signals and the exit status for itself.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::cargo_args::CargoArgs;
use crate::cli;
use crate::graph::{Graph, Plan};
use crate::kernel::{self, Kernel};
use crate::project::Project;
use crate::toolchain::Toolchain;
use cargo_detsim::failure::{Failure, Result};

/// Runs `cargo subcommand`. Returns only if it could not be started.
pub(crate) fn run(subcommand: &str, given: cli::Graph) -> Result<ExitCode> {
    let mut args = CargoArgs::new(given.cargo);
    let toolchain = Toolchain::find()?;
    // A named target, even if it is the host: build scripts and macros are then compiled apart
    // from what is tested, and keep the real tokio.
    let named = args.take_value("--target").map(|name| name.to_string_lossy().into_owned());
    let target = named.unwrap_or_else(|| toolchain.host.clone());
    let target_dir = args.take_value("--target-dir").map(PathBuf::from);

    let project = Project::read(&args, &target)?;
    let build_dir = absolute(target_dir.unwrap_or(project.target_dir).join("detsim"))?;
    let kernel_dir = absolute(given.kernel_dir.unwrap_or_else(|| build_dir.join("kernel")))?;
    let kernel = Kernel::build(&kernel_dir, &toolchain, &target)?;
    let shim = kernel::checkout().join("detsim-shim-tokio/src/lib.rs");
    let plan = Plan { tokio: project.tokio, shim, kernel };
    let graph = Graph::prepare(build_dir, &target, &plan)?;

    let mut cargo = graph.cargo(subcommand, &target);
    let error = cargo.args(args.iter()).exec();
    Err(Failure::start(&cargo, &error))
}

fn absolute(dir: PathBuf) -> Result<PathBuf> {
    std::path::absolute(&dir).map_err(|error| Failure::file(&dir, &error))
}
