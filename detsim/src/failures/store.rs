//! Where the records of failing runs are.
//!
//! Owns: the choice of the directory and the names of the files in it. Does not own: what is in
//! the files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The directory of this process's failures: `DETSIM_OUT`, or `detsim/failures` in the target
/// directory.
pub(crate) fn directory(out: Option<&Path>, binary: Option<&Path>) -> Option<PathBuf> {
    match out {
        Some(out) => Some(out.to_owned()),
        None => target_of(binary?).map(|target| target.join("detsim").join("failures")),
    }
}

/// The nearest directory above the binary that cargo tagged as a cache, which is the target
/// directory.
pub(crate) fn target_of(binary: &Path) -> Option<&Path> {
    binary.ancestors().find(|above| above.join("CACHEDIR.TAG").is_file())
}

/// The record of one failing run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(directory: &Path, test: &str, seed: u64) -> Self {
        Self(directory.join(test.replace("::", ".")).join(seed.to_string()))
    }

    /// The place of the record that `DETSIM_REPLAY` names, and the tape in it: the path is a
    /// directory, or a file of choices. What is relative is looked for in the current directory and
    /// in those above it, because tests run in the directory of their package.
    pub(crate) fn named(path: &Path) -> (Self, PathBuf) {
        let here = std::env::current_dir().unwrap_or_default();
        let found = here.ancestors().map(|above| above.join(path)).find(|path| path.exists());
        let path = found.unwrap_or_else(|| path.to_owned());
        let parent = path.parent().map(Path::to_owned).unwrap_or_default();
        match path.is_dir() {
            true => (Self(path.clone()), path.join(CHOICES)),
            false => (Self(parent), path),
        }
    }

    /// The tapes of the same test that other seeds left, by their paths.
    pub(crate) fn others(&self) -> Vec<PathBuf> {
        let test = self.0.parent().and_then(|test| fs::read_dir(test).ok());
        let places = test.into_iter().flatten().flatten().map(|entry| entry.path());
        let mut files: Vec<PathBuf> =
            places.filter(|place| *place != self.0).map(|place| place.join(CHOICES)).collect();
        files.sort();
        files
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the directory.
    pub(crate) fn create(&self) -> io::Result<()> {
        fs::create_dir_all(&self.0)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        fs::write(self.0.join(name), text)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Takes away what an earlier failure of this seed left.
    pub(crate) fn forget(&self, names: &[&str]) {
        for name in names {
            // Mostly there is none.
            let _none = fs::remove_file(self.0.join(name));
        }
    }
}

pub(crate) const REPORT: &str = "report.txt";
pub(crate) const CHOICES: &str = "choices.bin";
pub(crate) const ENV: &str = "env.toml";
pub(crate) const MINIMIZED: &str = "minimized.bin";
pub(crate) const MINIMIZED_TRACE: &str = "minimized-trace.bin";
pub(crate) const STORY: &str = "minimized.txt";

/// A path as it is typed at the top of a project: from the directory of the target directory on,
/// where both it and `here`, in which the test runs, are below that.
pub(crate) fn shown<'a>(path: &'a Path, binary: Option<&Path>, here: &Path) -> &'a Path {
    let project = binary.and_then(target_of).and_then(Path::parent);
    let project = project.filter(|project| here.starts_with(project));
    project.and_then(|project| path.strip_prefix(project).ok()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_directory_is_found_by_its_tag() {
        let root = std::env::temp_dir().join(format!("detsim-store-{}", std::process::id()));
        let deps = root.join("target/debug/deps");
        fs::create_dir_all(&deps).unwrap();
        let binary = deps.join("planted-0123");
        assert_eq!(directory(Some(Path::new("out")), Some(&binary)), Some(PathBuf::from("out")));
        fs::write(root.join("target/CACHEDIR.TAG"), "").unwrap();
        let failures = directory(None, Some(&binary)).unwrap();
        assert_eq!(failures, root.join("target/detsim/failures"));
        let place = Place::new(&failures, "raft::split_brain", 7);
        place.create().unwrap();
        place.write(REPORT, "why").unwrap();
        let report = failures.join("raft.split_brain/7/report.txt");
        assert_eq!(fs::read_to_string(&report).unwrap(), "why");
        assert!(place.others().is_empty());
        let other = Place::new(&failures, "raft::split_brain", 8);
        other.create().unwrap();
        assert_eq!(place.others(), [other.file(CHOICES)]);
        let shown = |here: PathBuf| shown(&report, Some(&binary), &here).to_owned();
        let short = Path::new("target/detsim/failures/raft.split_brain/7/report.txt");
        assert_eq!(shown(root.join("package")), short);
        assert_eq!(shown(PathBuf::from("/elsewhere")), report);
        let named = Place::named(&failures.join("raft.split_brain/7"));
        assert_eq!(named, (place.clone(), place.file(CHOICES)));
        assert_eq!(Place::named(&report), (place.clone(), report.clone()));
        place.forget(&[REPORT]);
        assert!(!report.exists());
        fs::remove_dir_all(root).unwrap();
    }
}
