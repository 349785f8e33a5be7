//! The simulator's own crates, built once a toolchain and used by every graph.
//!
//! They come from the checkout that this program was built in, with its lock file and its release
//! profile. Cargo decides whether they are fresh. Invariant: none of them can be mistaken for a
//! crate of the project, for all of them are compiled with [`METADATA`].

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::toolchain::Toolchain;
use cargo_detsim::failure::{Failure, Result};

/// What a compilation needs to know to use the kernel.
#[derive(Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Kernel {
    /// The crates that the shim names, with their files.
    pub(crate) externs: Vec<(String, PathBuf)>,
    /// Where the crates lie that those in turn use.
    pub(crate) search: Vec<PathBuf>,
}

const LIBRARIES: [&str; 4] = ["detsim", "detsim-executor", "detsim-fs", "detsim-net"];
const MACROS: &str = "detsim-macros";

/// The project may well use the same release of a crate that the kernel uses, built differently.
/// With a word more in its identity the kernel's is another crate.
const METADATA: &str = "-Cmetadata=detsim-kernel";
/// For a project whose profile links with LTO.
const BITCODE: &str = "-Cembed-bitcode=yes";

impl Kernel {
    /// Brings the kernel for `target` in `dir` up to date.
    pub(crate) fn build(dir: &Path, toolchain: &Toolchain, target: &str) -> Result<Self> {
        let dir = dir.join(&toolchain.key);
        let kernel = Self::in_dir(&dir, target);
        if !kernel.externs.iter().all(|(_, file)| file.exists()) {
            eprintln!("{:>12} the simulator (once for {})", "Compiling", toolchain.key);
        }
        let mut cargo = command(&dir, toolchain, target);
        let status = cargo.status().map_err(|error| Failure::start(&cargo, &error))?;
        match status.success() {
            true => Ok(kernel),
            false => Err(Failure::new(format!(
                "detsim: the simulator does not build with rustc {}; its words are above; where \
                 it is too old, take {} or a newer one",
                toolchain.key,
                env!("CARGO_PKG_RUST_VERSION"),
            ))),
        }
    }

    /// Where cargo puts what [`command`] builds. What runs in the compiler is built for the host.
    fn in_dir(dir: &Path, target: &str) -> Self {
        let (built, host) = (dir.join(target).join("release"), dir.join("release"));
        let library = |name: &&str| {
            let name = name.replace('-', "_");
            let file = built.join(format!("lib{name}.rlib"));
            (name, file)
        };
        let mut externs = LIBRARIES.iter().map(library).collect::<Vec<_>>();
        let name = MACROS.replace('-', "_");
        let file =
            format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        externs.push((name, host.join(file)));
        Self { externs, search: vec![built.join("deps"), host.join("deps")] }
    }
}

/// The root of the checkout.
pub(crate) fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("invariant: this package is a member")
}

/// Runs in the checkout, so that no configuration of the project's applies.
fn command(dir: &Path, toolchain: &Toolchain, target: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(checkout());
    cargo.args(["build", "--release", "--locked", "--quiet", "--target", target]);
    cargo.arg("--target-dir").arg(dir);
    for package in LIBRARIES.iter().chain([&MACROS]) {
        cargo.args(["--package", package]);
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", [METADATA, BITCODE].join("\x1f"));
    cargo.env("CARGO_BUILD_BUILD_DIR", dir).env("RUSTC", &toolchain.rustc);
    for wrapper in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"] {
        cargo.env_remove(wrapper);
    }
    cargo
}
