//! Votes that spread by datagrams.
//!
//! Owns: [`Peer`], which tells all others of the votes that were cast at it, again and again until each has
//! said that it knows. Invariants: a vote is counted once at each peer, however often it comes; who can
//! be reached for long enough knows of every vote in the end.

use std::collections::BTreeSet;
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
    others: Arc<[SocketAddr]>,
    bug: Bug,
}

#[derive(Debug, Default)]
struct State {
    /// Ballots that were cast here: how many votes each has.
    own: Vec<u32>,
    /// Who has not said yet that it knows of which of them.
    unknown: BTreeSet<(SocketAddr, u32)>,
    /// Those of others that are counted.
    counted: BTreeSet<(SocketAddr, u32)>,
    total: u64,
}

/// What a datagram says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    Votes { ballot: u32, votes: u32 },
    Known { ballot: u32 },
}

impl Peer {
    /// One that tells these.
    pub fn new(others: &[SocketAddr], bug: Bug) -> Self {
        Self { state: Arc::default(), others: others.into(), bug }
    }

    /// So many votes are cast here.
    pub fn cast(&self, votes: u32) {
        self.with(|state| {
            let ballot = state.own.len() as u32;
            state.own.push(votes);
            state.total += u64::from(votes);
            state.unknown.extend(self.others.iter().map(|other| (*other, ballot)));
        });
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
            let votes = |ballot: u32| state.own[ballot as usize];
            let of = |(to, ballot): &(_, u32)| {
                (*to, News::Votes { ballot: *ballot, votes: votes(*ballot) })
            };
            state.unknown.iter().map(of).collect()
        });
        for (to, news) in news {
            send(socket, to, news).await;
        }
    }

    async fn hear(&self, socket: &UdpSocket, from: SocketAddr, news: News) {
        match news {
            News::Votes { ballot, votes } => {
                self.with(|state| {
                    let is_new = state.counted.insert((from, ballot));
                    if is_new || self.bug == Bug::CountedTwice {
                        state.total += u64::from(votes);
                    }
                });
                send(socket, from, News::Known { ballot }).await;
            }
            News::Known { ballot } => self.with(|state| {
                state.unknown.remove(&(from, ballot));
            }),
        }
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
    const BYTES: usize = 9;

    fn encode(self) -> [u8; Self::BYTES] {
        let (kind, ballot, votes) = match self {
            Self::Votes { ballot, votes } => (0, ballot, votes),
            Self::Known { ballot } => (1, ballot, 0),
        };
        let mut bytes = [kind; Self::BYTES];
        bytes[1..5].copy_from_slice(&ballot.to_le_bytes());
        bytes[5..].copy_from_slice(&votes.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (ballot, votes) = rest.split_first_chunk()?;
        let ballot = u32::from_le_bytes(*ballot);
        let votes = u32::from_le_bytes(votes.try_into().ok()?);
        match kind {
            0 => Some(Self::Votes { ballot, votes }),
            1 => Some(Self::Known { ballot }),
            _ => None,
        }
    }
}
