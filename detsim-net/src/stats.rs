//! How much went over a network.
//!
//! Owns: [`NetStats`]. Invariant: every message sent, and every copy made, is delivered once, or
//! dropped once for one reason, or still on its way.

use detsim_executor::event::DropReason;

/// What a network has done so far, in messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetStats {
    /// Sent, whatever became of them.
    pub sent: u64,
    /// Handed to a handler.
    pub delivered: u64,
    /// Copies that a link made.
    pub duplicated: u64,
    /// How many times one was held back, by a link or for a paused node.
    pub held: u64,
    /// Lost by a link's rate when sent.
    pub dropped_at_send: u64,
    /// Lost by a link's rate when due.
    pub dropped_at_delivery: u64,
    /// Lost because the receiver was down or had no handler.
    pub dropped_no_receiver: u64,
    /// Lost because the sender was down.
    pub dropped_no_sender: u64,
    /// Lost because the link was cut.
    pub dropped_by_partition: u64,
    /// Lost by a rule of the scenario.
    pub dropped_by_rule: u64,
}

impl NetStats {
    /// All that were lost.
    pub fn dropped(&self) -> u64 {
        self.dropped_at_send
            + self.dropped_at_delivery
            + self.dropped_no_receiver
            + self.dropped_no_sender
            + self.dropped_by_partition
            + self.dropped_by_rule
    }

    /// Those that are on their way, or held.
    pub fn in_flight(&self) -> u64 {
        self.sent + self.duplicated - self.delivered - self.dropped()
    }

    pub(crate) fn count_drop(&mut self, why: DropReason) {
        *match why {
            DropReason::LossAtSend => &mut self.dropped_at_send,
            DropReason::LossAtDelivery => &mut self.dropped_at_delivery,
            DropReason::NoReceiver | DropReason::Overflow => &mut self.dropped_no_receiver,
            DropReason::NoSender => &mut self.dropped_no_sender,
            DropReason::Partition => &mut self.dropped_by_partition,
            DropReason::Rule => &mut self.dropped_by_rule,
        } += 1;
    }
}
