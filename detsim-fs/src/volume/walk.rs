//! From a path to an inode.
//!
//! Owns: how paths are walked: `.` and `..`, symbolic links, trailing slashes, and the errors of
//! that. Does not own: what is done at the end of the walk.
//!
//! Invariant: a walk changes nothing.

use std::collections::VecDeque;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use super::change::Entry;
use super::tree::{Ino, Inode, Kind, Name, ROOT, Tree};
use crate::errno::{Errno, Outcome};

/// Longest name within a directory, in bytes.
const NAME_MAX: usize = 255;
/// Longest path, in bytes, without the zero that ends it for the kernel.
const PATH_MAX: usize = 4095;
/// Most symbolic links on one walk.
const LINKS_MAX: u32 = 40;

/// What a symbolic link at the end of a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// A way to go on.
    Follow,
    /// The end, unless a slash comes behind it.
    Keep,
    /// The end: it is a name that is to be made, moved or taken away.
    Name,
}

impl Last {
    fn follows(self, slash: bool) -> bool {
        match self {
            Self::Follow => true,
            Self::Keep => slash,
            Self::Name => false,
        }
    }
}

/// Where a path leads.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The last name; `None` where the path ends in the root, `.` or `..`.
    pub(crate) entry: Option<Entry>,
    /// What is there.
    pub(crate) ino: Option<Ino>,
    /// The path ends in a slash: only a directory will do.
    pub(crate) slash: bool,
    /// The path ends in `.`, or in `..`.
    pub(crate) dots: usize,
}

/// Who walks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walker<'a> {
    pub(crate) tree: &'a Tree,
    /// Where a relative path begins.
    pub(crate) base: Ino,
    /// Passes every check of permissions.
    pub(crate) superuser: bool,
}

/// Bits of a mode that say what its owner may do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    Read = 0o400,
    Write = 0o200,
    Search = 0o100,
}

impl Walker<'_> {
    /// Walks a path.
    pub(crate) fn locate(self, path: &Path, last: Last) -> Outcome<Place> {
        let path = path.as_os_str().as_bytes();
        if path.is_empty() {
            return Err(Errno::ENOENT);
        }
        if path.len() > PATH_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        let mut dir = if path[0] == b'/' { ROOT } else { self.base };
        let mut slash = path.ends_with(b"/");
        let mut rest = components(path);
        let mut links = 0;
        while let Some(name) = rest.pop_front() {
            self.enter(dir)?;
            let is_last = rest.is_empty();
            let there = self.step(dir, &name)?;
            match there {
                None if is_last => return Ok(self.end(dir, name, None, slash)),
                None => return Err(Errno::ENOENT),
                Some(ino) => match &self.tree.at(ino).kind {
                    Kind::Symlink(target) if !is_last || last.follows(slash) => {
                        links += 1;
                        if links > LINKS_MAX {
                            return Err(Errno::ELOOP);
                        }
                        slash |= is_last && target.ends_with(b"/");
                        if target.starts_with(b"/") {
                            dir = ROOT;
                        }
                        prepend(&mut rest, target);
                    }
                    _ if is_last => return Ok(self.end(dir, name, Some(ino), slash)),
                    _ => dir = ino,
                },
            }
        }
        Ok(Place { entry: None, ino: Some(dir), slash, dots: 0 })
    }

    /// What is at the end of a path.
    pub(crate) fn find(self, path: &Path, last: Last) -> Outcome<Ino> {
        let place = self.locate(path, last)?;
        let ino = place.ino.ok_or(Errno::ENOENT)?;
        self.check_slash(&place)?;
        Ok(ino)
    }

    /// A slash at the end demands a directory.
    pub(crate) fn check_slash(self, place: &Place) -> Outcome<()> {
        match place.ino {
            Some(ino) if place.slash && !self.tree.at(ino).is_dir() => Err(Errno::ENOTDIR),
            _ => Ok(()),
        }
    }

    fn step(self, dir: Ino, name: &[u8]) -> Outcome<Option<Ino>> {
        match name {
            b"." => Ok(Some(dir)),
            b".." => Ok(self.tree.at(dir).dir().map(|dir| dir.parent)),
            _ if name.len() > NAME_MAX => Err(Errno::ENAMETOOLONG),
            _ => Ok(self.tree.lookup(dir, name)),
        }
    }

    fn end(self, dir: Ino, name: Name, ino: Option<Ino>, slash: bool) -> Place {
        let dots = if matches!(&*name, b"." | b"..") { name.len() } else { 0 };
        let entry = (dots == 0).then_some(Entry { dir, name });
        Place { entry, ino, slash, dots }
    }

    /// The step into a directory.
    fn enter(self, dir: Ino) -> Outcome<()> {
        let inode = self.tree.at(dir);
        if !inode.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        self.check(inode, Access::Search)
    }

    /// May whoever walks do this?
    pub(crate) fn check(self, inode: &Inode, access: Access) -> Outcome<()> {
        match self.superuser || inode.mode & access as u32 != 0 {
            true => Ok(()),
            false => Err(Errno::EACCES),
        }
    }

    /// May a name of this directory be made, moved or taken away?
    pub(crate) fn check_names(self, dir: Ino) -> Outcome<()> {
        let inode = self.tree.at(dir);
        if inode.links == 0 {
            // It was taken away itself, and somebody is still in it.
            return Err(Errno::ENOENT);
        }
        self.check(inode, Access::Write)?;
        self.check(inode, Access::Search)
    }

    /// The path of a directory from the root, without symbolic links.
    pub(crate) fn path_of(self, dir: Ino) -> Vec<u8> {
        let mut names = Vec::new();
        let mut at = dir;
        while at != ROOT {
            let parent = self.tree.at(at).dir().map_or(ROOT, |dir| dir.parent);
            let entries = self.tree.find(parent).and_then(Inode::dir);
            let name = entries.and_then(|dir| dir.entries.iter().find(|(_, ino)| **ino == at));
            let Some((name, _)) = name else { break };
            names.push(Rc::clone(name));
            at = parent;
        }
        let parts = names.iter().rev().flat_map(|name| [b"/".as_slice(), name]);
        let path: Vec<u8> = parts.flatten().copied().collect();
        if path.is_empty() { b"/".to_vec() } else { path }
    }
}

fn components(path: &[u8]) -> VecDeque<Name> {
    path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).map(Rc::from).collect()
}

fn prepend(rest: &mut VecDeque<Name>, path: &[u8]) {
    components(path).into_iter().rev().for_each(|name| rest.push_front(name));
}
