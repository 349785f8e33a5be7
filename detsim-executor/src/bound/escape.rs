//! Notes of uses from elsewhere.
//!
//! Owns: [`Escape`], one kind of use of a simulation's things by a thread that does not drive it.
//! Does not own: what is made of it (policy: a hermetic sweep fails the run, others allow it).
//! Invariant: equal uses share a note, and a list holds at most [`ESCAPES_MAX`] of them.

use std::fmt;
use std::panic::Location;

/// The longest list of notes; further kinds of use are not noted.
pub(crate) const ESCAPES_MAX: usize = 64;

/// What was done from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A section of an object that the simulation owns.
    Section,
    /// A task that was spawned in it.
    Spawn,
    /// The wake of one of its tasks.
    Wake,
}

/// A use of a simulation's things by a thread that does not drive it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Escape {
    /// What was done.
    pub(crate) what: Use,
    /// To which type of object.
    pub(crate) kind: &'static str,
    /// Where that object was made.
    pub(crate) site: Option<&'static Location<'static>>,
    /// The name of the thread, if it has one.
    pub(crate) thread: Option<Box<str>>,
    /// How many times.
    pub(crate) times: u64,
}

impl fmt::Display for Escape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            Use::Section => "use of",
            Use::Spawn => "spawn on",
            Use::Wake => "wake of",
        };
        write!(f, "{what} {}", self.kind)?;
        if let Some(site) = self.site {
            write!(f, " created at {site}")?;
        }
        match &self.thread {
            Some(name) => write!(f, " by thread '{name}'")?,
            None => write!(f, " by a thread without a name")?,
        }
        write!(f, ", outside of the simulation that owns it, {} times", self.times)
    }
}

/// Adds one use to the notes.
pub(crate) fn note(
    escapes: &mut Vec<Escape>,
    what: Use,
    kind: &'static str,
    site: Option<&'static Location<'static>>,
) {
    let thread = std::thread::current();
    let name = thread.name();
    let known = escapes.iter_mut().find(|it| {
        it.what == what && it.kind == kind && it.site == site && it.thread.as_deref() == name
    });
    if let Some(escape) = known {
        escape.times += 1;
    } else if escapes.len() < ESCAPES_MAX {
        escapes.push(Escape { what, kind, site, thread: name.map(Box::from), times: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_uses_share_a_note_and_the_list_has_an_end() {
        let mut escapes = Vec::new();
        for kind in ["mutex", "waker", "mutex"] {
            note(&mut escapes, Use::Section, kind, None);
        }
        assert_eq!(escapes.iter().map(|it| it.times).collect::<Vec<_>>(), [2, 1]);
        let text = "a kind of object, then the next, and so on to the end of this long text";
        (0..text.len()).for_each(|end| note(&mut escapes, Use::Wake, &text[..end], None));
        assert_eq!(escapes.len(), ESCAPES_MAX);
    }

    #[test]
    fn a_note_names_object_site_and_thread() {
        let site = Location::caller();
        let escape =
            Escape { what: Use::Section, kind: "mutex", site: Some(site), thread: None, times: 3 };
        let text = format!(
            "use of mutex created at {site} by a thread without a name, outside of the simulation that \
             owns it, 3 times"
        );
        assert_eq!(escape.to_string(), text);
    }
}
