//! Votes that spread by datagrams.
//!
//! Owns: [`Peer`], which tells all others of the ballots that were cast at it, again and again until each has
//! said that it knows. A peer that begins anew has forgotten everything, and asks the others: what it hears
//! of its own ballots is its own again. Invariants: a ballot is counted once at each peer, however often it
//! comes; of a ballot that one peer knows, all know in the end that can be reached for long enough, where
//! the peer at which it was cast is one of them.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::{MissedTickBehavior, interval};

use crate::Bug;

/// How often a peer tells those that have not answered.
const ROUND: Duration = Duration::from_millis(50);

/// One of those that count. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Peer {
    state: Arc<Mutex<State>>,
    number: u8,
    /// Tells its answers from those of the peer that was here before.
    life: u32,
    others: Arc<[SocketAddr]>,
    bug: Bug,
}

#[derive(Debug, Default)]
struct State {
    /// How many votes each ballot has that is known.
    votes: BTreeMap<Ballot, u32>,
    /// Who has not said yet that it knows of which of them.
    unknown: BTreeSet<(SocketAddr, Ballot)>,
    /// Who has not heard yet that this one has begun.
    strangers: BTreeSet<SocketAddr>,
    /// Which life of the others asked last.
    lives: BTreeMap<SocketAddr, u32>,
    total: u64,
}

/// The how manieth ballot that was cast at which peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ballot {
    /// The peer.
    pub peer: u8,
    /// Which of its ballots.
    pub number: u32,
}

/// What a datagram says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    /// A ballot has so many votes.
    Votes(Ballot, u32),
    /// Whoever lives this life knows of it.
    Known(Ballot, u32),
    /// Whoever lives this life knows of nothing.
    Hello(u32),
    /// It will be told.
    Welcome(u32),
}

impl Peer {
    /// The one of this number, which begins without any memory and tells these.
    pub fn new(number: u8, others: &[SocketAddr], bug: Bug) -> Self {
        let strangers = others.iter().copied().collect();
        let state = Arc::new(Mutex::new(State { strangers, ..State::default() }));
        let life = RandomState::new().build_hasher().finish() as u32;
        Self { state, number, life, others: others.into(), bug }
    }

    /// A ballot with so many votes is cast here. Whoever does not know that it was says so again: that
    /// counts once.
    pub fn cast(&self, number: u32, votes: u32) {
        self.learn(Ballot { peer: self.number, number }, votes);
    }

    /// All votes that are known here.
    pub fn total(&self) -> u64 {
        self.with(|state| state.total)
    }

    /// Talks to the others over this socket, without end.
    ///
    /// # Errors
    /// What receiving fails with.
    pub async fn run(self, socket: UdpSocket) -> io::Result<()> {
        let mut rounds = interval(ROUND);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut buffer = [0; News::BYTES];
        loop {
            tokio::select! {
                _ = rounds.tick() => self.tell(&socket).await,
                received = socket.recv_from(&mut buffer) => {
                    let (bytes, from) = received?;
                    if let Some(news) = News::decode(&buffer[..bytes]) {
                        self.hear(&socket, from, news).await;
                    }
                }
            }
        }
    }

    /// Tells everybody what they have not said they know.
    async fn tell(&self, socket: &UdpSocket) {
        let news: Vec<_> = self.with(|state| {
            let hello = state.strangers.iter().map(|to| (*to, News::Hello(self.life)));
            let votes = |ballot: &Ballot| News::Votes(*ballot, state.votes[ballot]);
            let unknown = state.unknown.iter().map(|(to, ballot)| (*to, votes(ballot)));
            hello.chain(unknown).collect()
        });
        for (to, news) in news {
            send(socket, to, news).await;
        }
    }

    async fn hear(&self, socket: &UdpSocket, from: SocketAddr, news: News) {
        let answer = match news {
            News::Votes(ballot, votes) => {
                let is_new = self.learn(ballot, votes);
                if !is_new && self.bug == Bug::CountedTwice {
                    self.with(|state| state.total += u64::from(votes));
                }
                News::Known(ballot, self.life)
            }
            News::Hello(life) => {
                self.with(|state| {
                    state.lives.insert(from, life);
                    let all = state.votes.keys().map(|ballot| (from, *ballot));
                    state.unknown.extend(all);
                });
                News::Welcome(life)
            }
            News::Known(ballot, life) => {
                return self.with(|state| {
                    // What one knew who has died since, nobody knows.
                    if state.lives.get(&from) == Some(&life) {
                        state.unknown.remove(&(from, ballot));
                    }
                });
            }
            News::Welcome(life) => {
                return self.with(|state| {
                    if life == self.life {
                        state.strangers.remove(&from);
                    }
                });
            }
        };
        send(socket, from, answer).await;
    }

    /// A ballot has so many votes; false where that was known.
    fn learn(&self, ballot: Ballot, votes: u32) -> bool {
        self.with(|state| {
            let is_new = state.votes.insert(ballot, votes).is_none();
            if is_new {
                state.total += u64::from(votes);
            }
            // One's own is one's own to tell, also where it was forgotten.
            if is_new && ballot.peer == self.number {
                state.unknown.extend(self.others.iter().map(|other| (*other, ballot)));
            }
            is_new
        })
    }

    fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn send(socket: &UdpSocket, to: SocketAddr, news: News) {
    // What does not arrive is told again, whyever.
    let _ = socket.send_to(&news.encode(), to).await;
}

impl News {
    const BYTES: usize = 10;

    fn encode(self) -> [u8; Self::BYTES] {
        let nothing = Ballot { peer: 0, number: 0 };
        let (kind, ballot, number) = match self {
            Self::Votes(ballot, votes) => (0, ballot, votes),
            Self::Known(ballot, life) => (1, ballot, life),
            Self::Hello(life) => (2, nothing, life),
            Self::Welcome(life) => (3, nothing, life),
        };
        let mut bytes = [kind; Self::BYTES];
        bytes[1] = ballot.peer;
        bytes[2..6].copy_from_slice(&ballot.number.to_le_bytes());
        bytes[6..].copy_from_slice(&number.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let ([kind, peer], rest) = bytes.split_first_chunk()?;
        let (own, rest) = rest.split_first_chunk()?;
        let ballot = Ballot { peer: *peer, number: u32::from_le_bytes(*own) };
        let number = u32::from_le_bytes(rest.try_into().ok()?);
        match kind {
            0 => Some(Self::Votes(ballot, number)),
            1 => Some(Self::Known(ballot, number)),
            2 => Some(Self::Hello(number)),
            3 => Some(Self::Welcome(number)),
            _ => None,
        }
    }
}
