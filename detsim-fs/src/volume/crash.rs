//! What a loss of power leaves.
//!
//! Owns: how a set of survivors is drawn among the pending atoms, and the list of all sets that are
//! allowed where there are few atoms. Does not own: which sets are allowed (`order.rs`), or when the
//! power goes.
//!
//! What the background write back had taken to the medium by then is one draw: a moment, and
//! everything that is older was written. That has the same outcomes as a draw for every change at
//! the time it is made, and costs nothing while no power is lost.

use detsim_executor::SimTime;

use super::journal::Pending;
use super::order::{Atom, close, prune};
use crate::survivors::{self, Pick};

/// The most pending atoms for which all sets of survivors are listed.
pub const EXHAUSTIVE_ATOMS_MAX: usize = 12;

/// One set of survivors of a loss of power, as [`Volume::survivor_sets`](super::Volume::survivor_sets)
/// lists them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SurvivorSet(pub(crate) Vec<bool>);

/// Draws the atoms that survive: whole writes first, each then torn by a chance of three in ten.
pub(crate) fn draw(atoms: &[Atom], written: impl Fn(u64) -> bool, pick: Pick<'_>) -> Vec<bool> {
    let writes: Vec<&[Atom]> = atoms.chunk_by(|a, b| a.seq == b.seq).collect();
    let (survive, spares) = survivors::draw_shaped(writes.len(), pick);
    let mut keep = Vec::with_capacity(atoms.len());
    for (write, survives) in writes.iter().zip(survive) {
        let torn = survives && write.len() > 1 && pick(10) >= 7;
        match torn {
            true => keep.extend(survivors::torn_subset(write.len(), pick)),
            false => keep.extend(write.iter().map(|_| survives)),
        }
    }
    for (keep, atom) in keep.iter_mut().zip(atoms) {
        *keep &= !atom.lost;
    }
    if spares {
        prune(atoms, &mut keep);
    }
    for (keep, atom) in keep.iter_mut().zip(atoms) {
        *keep |= written(atom.seq) && !atom.lost;
    }
    close(atoms, &mut keep);
    keep
}

/// All allowed sets; `None` where there are more than [`EXHAUSTIVE_ATOMS_MAX`] atoms.
pub(crate) fn all(atoms: &[Atom]) -> Option<Vec<SurvivorSet>> {
    if atoms.len() > EXHAUSTIVE_ATOMS_MAX {
        return None;
    }
    let subsets = (0..1_u32 << atoms.len()).map(|set| subset(set, atoms.len()));
    Some(subsets.filter(|keep| is_allowed(atoms, keep)).map(SurvivorSet).collect())
}

fn subset(set: u32, len: usize) -> Vec<bool> {
    (0..len).map(|bit| set >> bit & 1 == 1).collect()
}

/// Lost data survives only where later data of its sector brings it along.
fn is_allowed(atoms: &[Atom], keep: &[bool]) -> bool {
    let mut closed: Vec<bool> = keep.iter().zip(atoms).map(|(k, atom)| *k && !atom.lost).collect();
    close(atoms, &mut closed);
    closed == keep
}

/// What the background write back has taken to the medium for certain: everything that is older
/// than its longest delay.
pub(crate) fn long_ago(now: SimTime, delay_ns_max: u64) -> SimTime {
    SimTime::from_nanos(now.as_nanos().saturating_sub(delay_ns_max))
}

/// Everything before this moment was written back, where `cut` was drawn below the longest delay.
pub(crate) fn is_written(pending: &Pending, now: SimTime, delay_ns_max: u64, cut: u64) -> bool {
    let age = now.as_nanos() - pending.at.as_nanos();
    age > delay_ns_max.saturating_sub(cut)
}
