//! The functions on paths.
//!
//! Each is std's, as a call that takes time.

use super::call::call;
use detsim_fs::Cost;
use std::fs::{Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

/// Functions of one path.
macro_rules! of_path {
    ($( $(#[$doc:meta])* fn $name:ident($cost:ident) -> $gives:ty, $std:path; )+) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// As std's function of this name.
        pub async fn $name(path: impl AsRef<Path>) -> io::Result<$gives> {
            let path = path.as_ref().to_owned();
            call(Cost::$cost, move || $std(path)).await
        }
    )+ };
}

of_path! {
    /// The path without symbolic links, `.` and `..`.
    fn canonicalize(Read) -> PathBuf, std::fs::canonicalize;
    /// Makes a directory.
    fn create_dir(Write) -> (), std::fs::create_dir;
    /// Makes a directory, and those above it that are missing.
    fn create_dir_all(Write) -> (), std::fs::create_dir_all;
    /// What is known of a file, symbolic links followed.
    fn metadata(Read) -> Metadata, std::fs::metadata;
    /// All bytes of a file.
    fn read(Read) -> Vec<u8>, std::fs::read;
    /// Where a symbolic link leads.
    fn read_link(Read) -> PathBuf, std::fs::read_link;
    /// All bytes of a file, as text.
    fn read_to_string(Read) -> String, std::fs::read_to_string;
    /// Takes an empty directory away.
    fn remove_dir(Write) -> (), std::fs::remove_dir;
    /// Takes a directory away, and everything in it.
    fn remove_dir_all(Write) -> (), std::fs::remove_dir_all;
    /// Takes a name of a file away.
    fn remove_file(Rename) -> (), std::fs::remove_file;
    /// What is known of a file; a symbolic link is not followed.
    fn symlink_metadata(Read) -> Metadata, std::fs::symlink_metadata;
    /// Whether there is anything at the end of a path.
    fn try_exists(Read) -> bool, std::fs::exists;
}

/// Functions of two paths.
macro_rules! of_paths {
    ($( $(#[$doc:meta])* fn $name:ident($one:ident, $two:ident), $cost:ident -> $gives:ty, $std:path; )+) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// As std's function of this name.
        pub async fn $name($one: impl AsRef<Path>, $two: impl AsRef<Path>) -> io::Result<$gives> {
            let ($one, $two) = ($one.as_ref().to_owned(), $two.as_ref().to_owned());
            call(Cost::$cost, move || $std($one, $two)).await
        }
    )+ };
}

of_paths! {
    /// Copies the bytes and the permissions of a file: how many bytes.
    fn copy(from, to), Write -> u64, std::fs::copy;
    /// Gives a file another name.
    fn hard_link(original, link), Write -> (), std::fs::hard_link;
    /// Moves a name; what had the other name loses it.
    fn rename(from, to), Rename -> (), std::fs::rename;
    /// Makes a symbolic link.
    fn symlink(original, link), Write -> (), std::os::unix::fs::symlink;
}

/// Sets the permissions of a file.
///
/// # Errors
/// As std's function of this name.
pub async fn set_permissions(path: impl AsRef<Path>, perm: Permissions) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    call(Cost::Write, move || std::fs::set_permissions(path, perm)).await
}

/// Makes a file with these bytes, in place of what was there. None of it is durable.
///
/// # Errors
/// As std's function of this name.
///
/// # Examples
/// ```
/// use detsim_shim_tokio as tokio;
/// let sim = detsim_executor::Sim::new(7);
/// sim.block_on(async {
///     tokio::fs::write("/tmp/greeting", b"hello").await?;
///     assert_eq!(tokio::fs::read_to_string("/tmp/greeting").await?, "hello");
///     std::io::Result::Ok(())
/// })
/// .unwrap()
/// .unwrap();
/// ```
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let (path, contents) = (path.as_ref().to_owned(), contents.as_ref().to_vec());
    call(Cost::Write, move || std::fs::write(path, contents)).await
}
