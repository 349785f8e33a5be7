//! Who leads.
//!
//! Owns: terms, votes, and the way from follower over pre-candidate and candidate to leader and
//! back. Does not own: the log, of which it asks only where it ends.
//!
//! Two rules keep a node with a broken link from unseating a leader the others are content with:
//! *pre-vote* (ask before you raise the term; whoever has heard from a leader lately says no) and
//! *quorum check* (a leader that a majority has not answered for a while steps down).

use super::{Body, Bug, Message, Node, NodeId, NodeSet, Output, Persist, Position, Role};
use super::{Step, Term, Timer};

impl Node {
    /// Draws a new timeout and waits for it.
    pub(super) fn await_election(&mut self, step: &mut Step<'_>) {
        let base_ns = self.config.election_ns;
        self.clock.timeout_ns = base_ns + (step.jitter)(base_ns);
        self.postpone_election(step);
    }

    /// Begins to wait anew, as long as the last time.
    pub(super) fn postpone_election(&mut self, step: &mut Step<'_>) {
        self.clock.election_ns = step.now_ns + self.clock.timeout_ns;
        self.arm(Timer::Election, self.clock.election_ns, step);
    }

    /// Follows, in a term that is higher than the node's own.
    pub(super) fn enter_term(&mut self, term: Term, step: &mut Step<'_>) {
        self.term = term;
        self.vote = None;
        self.persist_vote(step);
        self.follow(step);
    }

    /// The election timeout has passed.
    pub(super) fn handle_silence(&mut self, step: &mut Step<'_>) {
        if self.role == Role::Leader {
            self.check_quorum(step);
        } else if self.config.bug == Bug::OneWayLivelock {
            // PLANTED BUG: raises the term without asking first.
            self.stand(step);
        } else {
            self.ask_around(step);
        }
    }

    pub(super) fn handle_pre_vote(
        &mut self,
        from: NodeId,
        term: Term,
        last: Position,
        step: &mut Step<'_>,
    ) {
        let content = self.role == Role::Leader
            || self.leader.is_some()
                && step.now_ns < self.leader_heard_ns + self.config.election_ns;
        let granted = term > self.term && last >= self.log.last() && !content;
        // A grant names the term asked about, a refusal the term that the asker may have missed.
        let term = if granted { term } else { self.term };
        let message = Message { term, body: Body::PreVoteReply { granted } };
        step.out.push(Output::Send { to: from, message });
    }

    pub(super) fn handle_pre_vote_reply(
        &mut self,
        from: NodeId,
        term: Term,
        granted: bool,
        step: &mut Step<'_>,
    ) {
        if self.role != Role::PreCandidate || !granted || term != self.term + 1 {
            return;
        }
        self.answers.insert(from);
        if self.answers.is_majority() {
            self.stand(step);
        }
    }

    pub(super) fn handle_vote(
        &mut self,
        from: NodeId,
        term: Term,
        last: Position,
        step: &mut Step<'_>,
    ) {
        let free = self.vote.is_none_or(|chosen| chosen == from);
        let granted = term == self.term && free && last >= self.log.last();
        if granted {
            self.vote = Some(from);
            self.persist_vote(step);
            self.postpone_election(step);
        }
        self.send(from, Body::VoteReply { granted }, step);
    }

    pub(super) fn handle_vote_reply(
        &mut self,
        from: NodeId,
        term: Term,
        granted: bool,
        step: &mut Step<'_>,
    ) {
        if self.role != Role::Candidate || !granted || term != self.term {
            return;
        }
        self.answers.insert(from);
        if self.answers.is_majority() {
            self.lead(step);
        }
    }

    fn follow(&mut self, step: &mut Step<'_>) {
        self.role = Role::Follower;
        self.leader = None;
        self.await_election(step);
    }

    fn ask_around(&mut self, step: &mut Step<'_>) {
        self.campaign(Role::PreCandidate, step);
        let body = Body::PreVote { last: self.log.last() };
        self.broadcast(&Message { term: self.term + 1, body }, step);
    }

    fn stand(&mut self, step: &mut Step<'_>) {
        self.term += 1;
        self.vote = Some(self.config.id);
        self.persist_vote(step);
        self.campaign(Role::Candidate, step);
        self.ask_for_votes(step);
    }

    /// Asks whoever has not given it their vote. The first time that is everybody.
    pub(super) fn ask_for_votes(&mut self, step: &mut Step<'_>) {
        let body = Body::Vote { last: self.log.last() };
        for to in self.answers.complement().iter() {
            self.send(to, body.clone(), step);
        }
        if self.config.asks_again {
            self.arm(Timer::Heartbeat, step.now_ns + self.config.heartbeat_ns, step);
        }
    }

    fn campaign(&mut self, role: Role, step: &mut Step<'_>) {
        self.role = role;
        self.leader = None;
        self.answers = NodeSet::only(self.config.id);
        self.await_election(step);
    }

    fn lead(&mut self, step: &mut Step<'_>) {
        let id = self.config.id;
        self.role = Role::Leader;
        self.leader = Some(id);
        self.await_quorum_check(step);
        self.begin_replication(step);
    }

    fn check_quorum(&mut self, step: &mut Step<'_>) {
        if self.answers.is_majority() {
            self.await_quorum_check(step);
        } else {
            self.follow(step);
        }
    }

    fn await_quorum_check(&mut self, step: &mut Step<'_>) {
        self.answers = NodeSet::only(self.config.id);
        self.postpone_election(step);
    }

    fn broadcast(&self, message: &Message, step: &mut Step<'_>) {
        for to in self.config.id.peers() {
            step.out.push(Output::Send { to, message: message.clone() });
        }
    }

    fn persist_vote(&self, step: &mut Step<'_>) {
        // PLANTED BUG: the vote never reaches the disk.
        let forgetful = self.config.bug == Bug::VoteNotPersisted;
        let vote = if forgetful { None } else { self.vote };
        step.out.push(Output::Persist(Persist::Vote { term: self.term, vote }));
    }
}
