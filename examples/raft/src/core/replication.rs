//! How entries spread.
//!
//! Owns: proposals, the leader's view of its peers' logs, and commitment. Does not own: who leads.
//!
//! The leader is optimistic: what was sent counts as received, so the next message carries only
//! what is new. A gap that a lost or overtaken message leaves shows at the next heartbeat, whose
//! receiver answers with how far its log reaches.

use super::{Body, Bug, Entries, Entry, Index, MAJORITY, NODES, Node, NodeId, Output, Persist};
use super::{Position, Role, Step, Term, Timer};

impl Node {
    pub(super) fn handle_proposal(&mut self, command: u64, step: &mut Step<'_>) {
        if self.role != Role::Leader {
            step.out.push(Output::Refused { command, leader: self.leader });
            return;
        }
        let entry = Entry { term: self.term, command };
        let index = self.log.push(entry).index;
        self.matched[self.config.id.index()] = index;
        self.persist_entries(index - 1, [entry].as_slice().into(), step);
        self.send_appends(step);
    }

    /// A new leader knows nothing of its peers' logs, and assumes they are like its own.
    pub(super) fn begin_replication(&mut self, step: &mut Step<'_>) {
        let last = self.log.last().index;
        self.next = [last + 1; NODES];
        self.matched = [0; NODES];
        self.matched[self.config.id.index()] = last;
        self.send_heartbeats(step);
    }

    pub(super) fn send_heartbeats(&mut self, step: &mut Step<'_>) {
        self.send_appends(step);
        self.arm(Timer::Heartbeat, step.now_ns + self.config.heartbeat_ns, step);
    }

    pub(super) fn handle_append(
        &mut self,
        from: NodeId,
        prev: Position,
        commit: Index,
        entries: Entries,
        step: &mut Step<'_>,
    ) {
        self.role = Role::Follower;
        self.leader = Some(from);
        self.leader_heard_ns = step.now_ns;
        self.postpone_election(step);
        if !self.log.contains(prev) {
            self.send(from, Body::Mismatch { hint: self.log.hint(prev) }, step);
            return;
        }
        let matched = prev.index + entries.len() as Index;
        self.take_entries(prev.index, entries, step);
        self.commit_up_to(commit.min(matched), step);
        self.send(from, Body::Appended { matched }, step);
    }

    pub(super) fn handle_appended(
        &mut self,
        from: NodeId,
        term: Term,
        matched: Index,
        step: &mut Step<'_>,
    ) {
        if self.role != Role::Leader || term != self.term {
            return;
        }
        self.answers.insert(from);
        let peer = from.index();
        if matched > self.matched[peer] {
            self.matched[peer] = matched;
            self.next[peer] = self.next[peer].max(matched + 1);
            self.commit_what_a_majority_has(step);
        }
        if self.next[peer] <= self.log.last().index {
            let entries = self.log.batch_from(self.next[peer]);
            self.send_append(from, entries, step);
        }
    }

    pub(super) fn handle_mismatch(
        &mut self,
        from: NodeId,
        term: Term,
        hint: Index,
        step: &mut Step<'_>,
    ) {
        if self.role != Role::Leader || term != self.term {
            return;
        }
        self.answers.insert(from);
        let next = hint.max(self.matched[from.index()]) + 1;
        // An answer to a message from before the last step back says nothing new.
        if next < self.next[from.index()] {
            self.next[from.index()] = next;
            let entries = self.log.batch_from(next);
            self.send_append(from, entries, step);
        }
    }

    /// Tells each peer what it has not been told; peers that lack the same share one allocation.
    fn send_appends(&mut self, step: &mut Step<'_>) {
        let mut shared = (0, Entries::default());
        for peer in self.config.id.peers() {
            let next = self.next[peer.index()];
            if next != shared.0 {
                shared = (next, self.log.batch_from(next));
            }
            self.send_append(peer, shared.1.clone(), step);
        }
    }

    fn send_append(&mut self, to: NodeId, entries: Entries, step: &mut Step<'_>) {
        let next = &mut self.next[to.index()];
        let prev = self.log.position(*next - 1);
        *next += entries.len() as Index;
        self.send(to, Body::Append { prev, commit: self.commit, entries }, step);
    }

    /// Makes the log agree with `entries` behind `index`.
    fn take_entries(&mut self, index: Index, entries: Entries, step: &mut Step<'_>) {
        let known = self.log.agreement(index, &entries);
        if known == entries.len() {
            return;
        }
        let after = index + known as Index;
        self.log.replace_after(after, &entries[known..]);
        let news = if known == 0 { entries } else { entries[known..].into() };
        self.persist_entries(after, news, step);
    }

    fn commit_what_a_majority_has(&mut self, step: &mut Step<'_>) {
        let mut matched = self.matched;
        matched.sort_unstable();
        let held = matched[NODES - MAJORITY];
        // An entry of an earlier term may be on a majority and still be overwritten: it is
        // committed only together with one of the leader's own term (section 5.4.2).
        // PLANTED BUG: commits it by counting.
        let counts_old_terms = self.config.bug == Bug::CommitOldTermByCounting;
        if held > self.commit && (self.log.position(held).term == self.term || counts_old_terms) {
            self.commit_up_to(held, step);
        }
    }

    fn commit_up_to(&mut self, index: Index, step: &mut Step<'_>) {
        while self.commit < index {
            let entry = self.log.entries()[self.commit as usize];
            self.commit += 1;
            step.out.push(Output::Committed { index: self.commit, entry });
        }
    }

    fn persist_entries(&self, after: Index, entries: Entries, step: &mut Step<'_>) {
        step.out.push(Output::Persist(Persist::Entries { after, entries }));
    }
}
