//! Where reports of failures are written.
//!
//! Owns: the choice of the directory and the layout below it: `<test>/<seed>/report.txt`. Does not
//! own: the texts. A directory that cannot be written costs the file, not the sweep.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The directory of this process's failures: `DETSIM_OUT`, or `detsim/failures` in the nearest
/// directory above the binary that cargo tagged as a cache, which is the target directory.
pub(crate) fn directory(out: Option<&Path>, binary: Option<&Path>) -> Option<PathBuf> {
    match out {
        Some(out) => Some(out.to_owned()),
        None => binary?
            .ancestors()
            .find(|above| above.join("CACHEDIR.TAG").is_file())
            .map(|target| target.join("detsim").join("failures")),
    }
}

/// Writes the report of one seed and returns where.
pub(crate) fn write_report(
    directory: &Path,
    test: &str,
    seed: u64,
    report: &str,
) -> io::Result<PathBuf> {
    let place = directory.join(test.replace("::", ".")).join(seed.to_string());
    fs::create_dir_all(&place)?;
    let file = place.join("report.txt");
    fs::write(&file, report)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_directory_is_found_by_its_tag() {
        let root = std::env::temp_dir().join(format!("detsim-files-{}", std::process::id()));
        let deps = root.join("debug/deps");
        fs::create_dir_all(&deps).unwrap();
        let binary = deps.join("planted-0123");
        assert_eq!(directory(Some(Path::new("out")), Some(&binary)), Some(PathBuf::from("out")));
        fs::write(root.join("CACHEDIR.TAG"), "").unwrap();
        let failures = directory(None, Some(&binary)).unwrap();
        assert_eq!(failures, root.join("detsim/failures"));
        let file = write_report(&failures, "raft::split_brain", 7, "why").unwrap();
        assert_eq!(file, failures.join("raft.split_brain/7/report.txt"));
        assert_eq!(fs::read_to_string(file).unwrap(), "why");
        fs::remove_dir_all(root).unwrap();
    }
}
