//! The pool.
//!
//! Owns: workers, ledger, journal, shutdown. Invariants (of [`Bug::None`]): the total is the sum of
//! the jobs that are done; the journal has a line for each; `drain` returns once, after the last.

use crate::bug::Bug;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Notify, mpsc};

/// How many workers a pool has.
const WORKERS: usize = 4;
/// Jobs that wait in the channel at most.
const QUEUED_MAX: usize = 2;

/// What a job takes.
const JOB_TIME: Duration = Duration::from_millis(1);
/// How often the books are compared.
const AUDITS: usize = 4;

/// A job: so much to book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Names it.
    pub id: u32,
    /// What it is worth.
    pub amount: u64,
}

/// What a pool has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The sum of the amounts.
    pub total: u64,
    /// The jobs, in the order they were booked.
    pub booked: Vec<u32>,
}

/// What has been booked, and what is still to do.
#[derive(Debug, Default)]
struct Ledger {
    total: u64,
    pending: usize,
}

/// What all workers share.
#[derive(Debug)]
pub struct Pool {
    bug: Bug,
    jobs: Mutex<mpsc::Receiver<Job>>,
    ledger: Mutex<Ledger>,
    journal: Mutex<Vec<u32>>,
    idle: Notify,
}

/// Runs `jobs` through a pool, and gives what it says it has done.
pub async fn run(jobs: Vec<Job>, bug: Bug) -> Summary {
    let (queue, receiver) = mpsc::channel(QUEUED_MAX);
    let pool = Arc::new(Pool::new(receiver, jobs.len(), bug));
    let workers: Vec<_> = (0..WORKERS).map(|_| tokio::spawn(work(Arc::clone(&pool)))).collect();
    let auditor = tokio::spawn(audit(Arc::clone(&pool)));
    for job in jobs {
        queue.send(job).await.expect("the receiver lives in the pool");
    }
    drop(queue);
    pool.drain().await;
    for task in workers.into_iter().chain([auditor]) {
        task.await.expect("no task of a pool panics");
    }
    let booked = pool.journal.lock().await.clone();
    Summary { total: pool.ledger.lock().await.total, booked }
}

/// Takes jobs until there are no more.
async fn work(pool: Arc<Pool>) {
    while let Some(job) = pool.next().await {
        tokio::time::sleep(JOB_TIME).await;
        pool.book(job).await;
    }
}

/// Compares ledger and journal, a few times.
async fn audit(pool: Arc<Pool>) {
    for _ in 0..AUDITS {
        pool.audit().await;
        tokio::time::sleep(JOB_TIME).await;
    }
}

impl Pool {
    fn new(jobs: mpsc::Receiver<Job>, pending: usize, bug: Bug) -> Self {
        Self {
            bug,
            jobs: Mutex::new(jobs),
            ledger: Mutex::new(Ledger { total: 0, pending }),
            journal: Mutex::default(),
            idle: Notify::new(),
        }
    }

    async fn next(&self) -> Option<Job> {
        self.jobs.lock().await.recv().await
    }

    /// Books a job, ledger before journal.
    async fn book(&self, job: Job) {
        if self.bug == Bug::LostUpdate {
            // PLANTED BUG: between the two locks somebody else may book, too.
            let seen = self.ledger.lock().await.total;
            self.journal.lock().await.push(job.id);
            let mut ledger = self.ledger.lock().await;
            ledger.total = seen + job.amount;
            ledger.pending -= 1;
        } else {
            let mut ledger = self.ledger.lock().await;
            self.journal.lock().await.push(job.id);
            ledger.total += job.amount;
            ledger.pending -= 1;
        }
        self.idle.notify_waiters();
    }

    /// Waits until every job is booked.
    async fn drain(&self) {
        loop {
            if self.bug == Bug::LostWakeup {
                if self.is_done().await {
                    return;
                }
                // PLANTED BUG: the last job may be booked right here, and nobody hears of it.
                self.idle.notified().await;
            } else {
                // Listens first, looks then: what happens in between is heard.
                let idle = self.idle.notified();
                if self.is_done().await {
                    return;
                }
                idle.await;
            }
        }
    }

    /// Whether every job is booked: what the ledger says, with a line about it in the journal's
    /// order.
    async fn is_done(&self) -> bool {
        let pending = self.ledger.lock().await.pending;
        // Whoever books holds both locks: once this one was had, no booking is half done.
        drop(self.journal.lock().await);
        pending == 0
    }

    async fn audit(&self) {
        if self.bug == Bug::AbBa {
            // PLANTED BUG: everybody else locks the ledger first.
            let journal = self.journal.lock().await;
            let ledger = self.ledger.lock().await;
            check(&ledger, &journal);
        } else {
            let ledger = self.ledger.lock().await;
            let journal = self.journal.lock().await;
            check(&ledger, &journal);
        }
    }
}

fn check(ledger: &Ledger, journal: &[u32]) {
    assert!(ledger.total == 0 || !journal.is_empty(), "an amount without a line in the journal");
}
