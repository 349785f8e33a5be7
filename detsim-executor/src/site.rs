//! Where things stand in the source: hashes of places and of type names.
//!
//! Owns: a small cache from the address of a `&'static Location` or `&'static str` to a hash of
//! its *contents*, which is the same in every build and process. Invariant: an address is only
//! ever a key of the cache, never part of a hash.

use crate::rng::{fold, hash_bytes};
use std::panic::Location;

const ENTRIES: usize = 256;

/// A direct-mapped cache of content hashes.
#[derive(Debug)]
pub(crate) struct SiteCache {
    entries: Box<[(usize, u64); ENTRIES]>,
    spawns: Box<[(SpawnKey, u64); SPAWNS]>,
}

/// The addresses of a place and of a type's name, and the length of that.
type SpawnKey = (usize, usize, usize);
/// Places of spawns that are known together with what is spawned there.
const SPAWNS: usize = 32;

impl Default for SiteCache {
    fn default() -> Self {
        Self { entries: Box::new([(0, 0); ENTRIES]), spawns: Box::new([((0, 0, 0), 0); SPAWNS]) }
    }
}

impl SiteCache {
    /// The hash of a place: file, line and column.
    #[inline]
    pub(crate) fn site(&mut self, site: &'static Location<'static>) -> u64 {
        self.cached(std::ptr::from_ref(site) as usize, || hash_site(site))
    }

    /// The hash of the file that a place is in. Signatures are made of it: lines move with every
    /// edit above them, and a recorded choice is to outlive that.
    #[inline]
    pub(crate) fn file(&mut self, site: &'static Location<'static>) -> u64 {
        // A place is aligned, so that its address and the next one are keys of its own.
        self.cached(std::ptr::from_ref(site) as usize + 1, || hash_bytes(site.file().as_bytes()))
    }

    /// The hash of the file that a place is in and of the name of the type that is spawned there.
    #[inline]
    pub(crate) fn spawn(
        &mut self,
        site: &'static Location<'static>,
        type_name: &'static str,
    ) -> u64 {
        let (key, index) = spawn_key(site, type_name);
        let (known, hash) = &self.spawns[index];
        if *known == key { *hash } else { self.spawn_anew(site, type_name) }
    }

    #[cold]
    #[inline(never)]
    fn spawn_anew(&mut self, site: &'static Location<'static>, type_name: &'static str) -> u64 {
        let hash = fold(self.file(site), self.text(type_name));
        let (key, index) = spawn_key(site, type_name);
        self.spawns[index] = (key, hash);
        hash
    }

    /// The hash of a static string, such as a type's name.
    #[inline]
    pub(crate) fn text(&mut self, text: &'static str) -> u64 {
        self.cached(text.as_ptr() as usize ^ text.len() << 3, || hash_bytes(text.as_bytes()))
    }

    #[inline]
    fn cached(&mut self, key: usize, hash: impl FnOnce() -> u64) -> u64 {
        let entry = &mut self.entries[(key >> 3) % ENTRIES];
        if entry.0 != key {
            *entry = (key, hash());
        }
        entry.1
    }
}

/// The key of a place together with what is spawned there, and its only place in the cache.
#[inline]
fn spawn_key(site: &'static Location<'static>, type_name: &'static str) -> (SpawnKey, usize) {
    let place = std::ptr::from_ref(site) as usize;
    let name = type_name.as_ptr() as usize;
    ((place, name, type_name.len()), ((place >> 3) ^ (name >> 2)) % SPAWNS)
}

fn hash_site(site: &Location<'_>) -> u64 {
    let file = hash_bytes(site.file().as_bytes());
    fold(file, u64::from(site.line()) << 32 | u64::from(site.column()))
}

/// `file:line`, the file as rustc was given it.
pub(crate) fn shown(site: &Location<'_>) -> String {
    format!("{}:{}", relative(site.file()), site.line())
}

/// A path that means the same on every machine: what follows the last `registry/src/*/`, else
/// the path itself where it is relative, else what follows the current directory.
pub(crate) fn relative(path: &str) -> &str {
    if let Some((_, rest)) = path.split_once("/registry/src/") {
        return rest.split_once('/').map_or(rest, |(_, tail)| tail);
    }
    if let Some((_, rest)) = path.split_once("/library/")
        && (path.starts_with("/rustc/") || path.contains("/rustlib/src/"))
    {
        return rest;
    }
    path.strip_prefix(BASE).map_or(path, |rest| rest.trim_start_matches('/'))
}

/// The workspace that this kernel was compiled in: its own files are shown relative to it.
const BASE: &str = match option_env!("CARGO_MANIFEST_DIR") {
    Some(dir) => parent(dir),
    None => "/",
};

const fn parent(dir: &str) -> &str {
    let bytes = dir.as_bytes();
    let mut end = bytes.len();
    while end > 1 && bytes[end - 1] != b'/' {
        end -= 1;
    }
    dir.split_at(end).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_of_the_contents() {
        let mut cache = SiteCache::default();
        let (here, there) = (Location::caller(), Location::caller());
        assert_eq!(cache.site(here), cache.site(here));
        assert_ne!(cache.site(here), cache.site(there));
        assert_eq!(cache.text("abc"), hash_bytes(b"abc"));
    }

    #[test]
    fn paths_are_shown_without_the_machine() {
        let registry = "/home/u/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/axum-1.0/a.rs";
        assert_eq!(relative(registry), "axum-1.0/a.rs");
        assert_eq!(relative("/rustc/59807616/library/core/src/a.rs"), "core/src/a.rs");
        assert_eq!(relative("src/lib.rs"), "src/lib.rs");
    }
}
