//! Where the draws of one fault come from.
//!
//! Owns: [`Draws`]: a stream of random words of the disk's own, or the choices of a run, which are
//! recorded, replayed and minimised. Does not own: what is drawn ([`crate::faults`]). Invariant: 0
//! and no are the defaults, and mean that nothing special happens.

use detsim_executor::choice::Domain;
use detsim_executor::{Anchor, Ratio, Sim, Stream};

/// The draws of one fault.
#[derive(Clone, Debug)]
pub(crate) enum Draws {
    /// Words that the seed of the disk gives.
    Own(Stream),
    /// Choices of this run.
    Run { sim: Sim, domain: Domain },
}

impl Draws {
    pub(crate) fn own(seed: u64, fault: &str) -> Self {
        Self::Own(Stream::named(seed, &format!("disk/{fault}")))
    }

    pub(crate) fn run(sim: &Sim, disk: &str, fault: &str) -> Self {
        let name = format!("disk/{disk}/{fault}");
        let domain = sim.with(|kernel| kernel.choices().domain(&name));
        Self::Run { sim: sim.clone(), domain }
    }

    /// Does it happen?
    pub(crate) fn chance(&mut self, ratio: Ratio) -> bool {
        match self {
            Self::Own(stream) => stream.chance(ratio),
            Self::Run { sim, domain } => {
                sim.with(|kernel| kernel.choices().happens(*domain, Anchor::default(), ratio))
            }
        }
    }

    /// A number below the bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        match self {
            Self::Own(stream) => stream.below(bound),
            Self::Run { sim, domain } => {
                sim.with(|kernel| kernel.choices().draw(*domain, Anchor::default(), bound, 0))
            }
        }
    }

    /// What a byte is changed by, where it is changed: one word of a stream decides both.
    pub(crate) fn damage(&mut self, ratio: Ratio) -> Option<u8> {
        match self {
            Self::Own(stream) => {
                let word = stream.word();
                ratio.admits(word).then_some((word as u8).max(1))
            }
            Self::Run { .. } => self.chance(ratio).then(|| 1 + self.below(255) as u8),
        }
    }
}
