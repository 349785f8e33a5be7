//! Files and directories: every method, by its type.
#![expect(clippy::disallowed_types, reason = "std's times are among the arguments")]
#![expect(dead_code, reason = "it is compiled, not called")]

use super::tokio;
use crate::parity::any;
use std::ffi::OsString;
use std::fs::{File as StdFile, FileType, Metadata, OpenOptions as StdOptions, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::task::{Context, Poll};
use std::time::SystemTime;
use tokio::fs::*;
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite};

pub(in crate::parity) fn of_file() {
    let _: fn() -> OpenOptions = File::options;
    let _: fn(StdFile) -> File = File::from_std;
    let _: fn(File) -> Result<StdFile, File> = File::try_into_std;
    let _: fn(&mut File, usize) = File::set_max_buf_size;
    let _: fn(&File) -> usize = File::max_buf_size;
}

pub(in crate::parity) async fn of_file_waits() {
    let _: io::Result<File> = File::open(any::<&Path>()).await;
    let _: io::Result<File> = File::create(any::<&Path>()).await;
    let _: io::Result<File> = File::create_new(any::<&Path>()).await;
    let _: io::Result<()> = File::sync_all(any::<&File>()).await;
    let _: io::Result<()> = File::sync_data(any::<&File>()).await;
    let _: io::Result<()> = File::set_len(any::<&File>(), any::<u64>()).await;
    let _: io::Result<Metadata> = File::metadata(any::<&File>()).await;
    let _: io::Result<File> = File::try_clone(any::<&File>()).await;
    let _: StdFile = File::into_std(any::<File>()).await;
    let _: io::Result<()> = File::set_permissions(any::<&File>(), any::<Permissions>()).await;
    let _: io::Result<()> = File::set_times(any::<&File>(), any::<FileTimes>()).await;
    let _: io::Result<()> = File::set_modified(any::<&File>(), any::<SystemTime>()).await;
}

pub(in crate::parity) fn of_open_options() {
    let _: fn() -> OpenOptions = OpenOptions::new;
    let _: [fn(&mut OpenOptions, bool) -> &mut OpenOptions; 6] = [
        OpenOptions::read,
        OpenOptions::write,
        OpenOptions::append,
        OpenOptions::truncate,
        OpenOptions::create,
        OpenOptions::create_new,
    ];
    let _: fn(&mut OpenOptions, u32) -> &mut OpenOptions = OpenOptions::mode;
    let _: fn(&mut OpenOptions, i32) -> &mut OpenOptions = OpenOptions::custom_flags;
}

pub(in crate::parity) async fn of_open_options_waits() {
    let _: io::Result<File> = OpenOptions::open(any::<&OpenOptions>(), any::<&Path>()).await;
}

pub(in crate::parity) fn of_dir_builder() {
    let _: fn() -> DirBuilder = DirBuilder::new;
    let _: fn(&mut DirBuilder, bool) -> &mut DirBuilder = DirBuilder::recursive;
    let _: fn(&mut DirBuilder, u32) -> &mut DirBuilder = DirBuilder::mode;
}

pub(in crate::parity) async fn of_dir_builder_waits() {
    let _: io::Result<()> = DirBuilder::create(any::<&DirBuilder>(), any::<&Path>()).await;
}

pub(in crate::parity) fn of_read_dir() {
    let _: fn(&mut ReadDir, &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> =
        ReadDir::poll_next_entry;
}

pub(in crate::parity) async fn of_read_dir_waits() {
    let _: io::Result<Option<DirEntry>> = ReadDir::next_entry(any::<&mut ReadDir>()).await;
}

pub(in crate::parity) fn of_dir_entry() {
    let _: fn(&DirEntry) -> u64 = DirEntry::ino;
    let _: fn(&DirEntry) -> PathBuf = DirEntry::path;
    let _: fn(&DirEntry) -> OsString = DirEntry::file_name;
}

pub(in crate::parity) async fn of_dir_entry_waits() {
    let _: io::Result<Metadata> = DirEntry::metadata(any::<&DirEntry>()).await;
    let _: io::Result<FileType> = DirEntry::file_type(any::<&DirEntry>()).await;
}

pub(in crate::parity) fn of_file_times() {
    let _: fn() -> FileTimes = FileTimes::new;
    let _: [fn(FileTimes, SystemTime) -> FileTimes; 2] =
        [FileTimes::set_accessed, FileTimes::set_modified];
}

pub(in crate::parity) async fn functions() {
    let path = any::<&Path>();
    let _: io::Result<PathBuf> = canonicalize(path).await;
    let _: io::Result<u64> = copy(path, path).await;
    let _: io::Result<()> = create_dir(path).await;
    let _: io::Result<()> = create_dir_all(path).await;
    let _: io::Result<()> = hard_link(path, path).await;
    let _: io::Result<Metadata> = metadata(path).await;
    let _: io::Result<Vec<u8>> = read(path).await;
    let _: io::Result<ReadDir> = read_dir(path).await;
    let _: io::Result<PathBuf> = read_link(path).await;
    let _: io::Result<String> = read_to_string(path).await;
    let _: io::Result<()> = remove_dir(path).await;
    let _: io::Result<()> = remove_dir_all(path).await;
    let _: io::Result<()> = remove_file(path).await;
    let _: io::Result<()> = rename(path, path).await;
    let _: io::Result<()> = set_permissions(path, any::<Permissions>()).await;
    let _: io::Result<()> = symlink(path, path).await;
    let _: io::Result<Metadata> = symlink_metadata(path).await;
    let _: io::Result<bool> = try_exists(path).await;
    let _: io::Result<()> = write(path, b"bytes").await;
}

fn reads_and_writes<T>()
where
    T: AsyncRead + AsyncWrite + AsyncSeek + AsFd + AsRawFd + FromRawFd + From<StdFile>,
{
}

pub(in crate::parity) fn conversions() {
    reads_and_writes::<File>();
    let _: fn(StdOptions) -> OpenOptions = OpenOptions::from;
    let _: fn(OwnedFd) -> File = File::from;
}
