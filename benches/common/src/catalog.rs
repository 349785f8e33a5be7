//! The workloads and memory checks by name: sizes, units, and what detsim must reach on each.
//!
//! Plain data, read by the runner. The texts that do the work are matched to these names in
//! `benches/workloads/workloads.rs`; the sizes here take 30 to 800 ms on the slowest peer.

/// One workload.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The name on command lines and in tables.
    pub name: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// Operations of a measured run.
    pub operations: u64,
    /// Operations of the two counted runs, whose difference leaves the start-up out.
    pub counted: [u64; 2],
    /// How many times less CPU time than each of these peers detsim must take.
    pub goals: &'static [(&'static str, f64)],
}

/// Every workload, in the order of the table.
pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "yield-10",
        operation: "poll",
        operations: 1_000_000,
        counted: [10_000, 60_000],
        goals: &[("tokio", 2.5), ("madsim", 5.0)],
    },
    Workload {
        name: "yield-100",
        operation: "poll",
        operations: 1_000_000,
        counted: [10_000, 60_000],
        goals: &[("tokio", 2.5), ("madsim", 5.0)],
    },
    Workload {
        name: "yield-10k",
        operation: "poll",
        // Of each task so many that its spawn does not show.
        operations: 5_000_000,
        counted: [50_000, 150_000],
        goals: &[("tokio", 2.5), ("madsim", 5.0)],
    },
    Workload {
        name: "yield-100k",
        operation: "poll",
        operations: 2_000_000,
        counted: [200_000, 400_000],
        goals: &[],
    },
    Workload {
        name: "spawn-1k",
        operation: "task",
        operations: 200_000,
        counted: [5_000, 25_000],
        goals: &[("madsim", 5.0)],
    },
    Workload {
        name: "spawn-1",
        operation: "task",
        operations: 200_000,
        counted: [5_000, 25_000],
        goals: &[("madsim", 5.0)],
    },
    Workload {
        name: "timers",
        operation: "timer",
        operations: 200_000,
        counted: [5_000, 25_000],
        goals: &[("madsim", 2.5)],
    },
    Workload {
        name: "mpsc",
        operation: "message",
        operations: 400_000,
        counted: [8_000, 48_000],
        goals: &[("madsim", 4.0), ("tokio", 3.0)],
    },
    Workload {
        name: "mpsc-unbounded",
        operation: "message",
        operations: 400_000,
        counted: [8_000, 48_000],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "oneshot",
        operation: "request",
        operations: 200_000,
        counted: [4_000, 24_000],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "broadcast",
        operation: "message received",
        operations: 640_000,
        counted: [6_400, 38_400],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "watch",
        operation: "value",
        operations: 200_000,
        counted: [4_000, 24_000],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "notify",
        operation: "notification",
        operations: 200_000,
        counted: [4_000, 24_000],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "mutex",
        operation: "lock",
        operations: 400_000,
        counted: [8_000, 48_000],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "mutex-held",
        operation: "lock",
        operations: 200_000,
        counted: [4_000, 24_000],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "rwlock",
        operation: "lock",
        operations: 400_000,
        counted: [8_000, 48_000],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "semaphore",
        operation: "permit",
        operations: 200_000,
        counted: [4_000, 24_000],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "barrier",
        operation: "wait",
        operations: 200_000,
        counted: [4_000, 24_000],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "once-cell",
        operation: "value had",
        operations: 200_000,
        counted: [4_000, 24_000],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "set-once",
        operation: "value had",
        operations: 200_000,
        counted: [4_000, 24_000],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "blocking",
        operation: "closure",
        operations: 20_000,
        counted: [200, 1_200],
        goals: &[("tokio", 1.0)],
    },
    Workload {
        name: "hold",
        operation: "hold",
        operations: 100_000,
        counted: [1_000, 6_000],
        goals: &[],
    },
    Workload {
        name: "empty",
        operation: "simulation",
        operations: 5_000,
        counted: [50, 250],
        goals: &[("madsim", 4.0)],
    },
    Workload {
        name: "raft",
        operation: "run",
        operations: 50,
        counted: [2, 22],
        goals: &[("madsim", 5.0)],
    },
    Workload { name: "kv", operation: "cycle", operations: 5_000, counted: [100, 600], goals: &[] },
    Workload {
        name: "disk-sync",
        operation: "4 KiB written and synced",
        operations: 100_000,
        counted: [1_000, 6_000],
        goals: &[],
    },
    Workload {
        name: "disk-read",
        operation: "4 KiB read",
        operations: 200_000,
        counted: [5_000, 25_000],
        goals: &[],
    },
    Workload {
        name: "echo",
        operation: "round trip",
        operations: 50_000,
        counted: [1_000, 6_000],
        goals: &[("madsim", 4.0), ("turmoil", 25.0)],
    },
    Workload {
        name: "echo-fair",
        operation: "round trip",
        operations: 50_000,
        counted: [1_000, 6_000],
        goals: &[],
    },
    Workload {
        name: "echo-rough",
        operation: "round trip",
        operations: 50_000,
        counted: [1_000, 6_000],
        goals: &[],
    },
    Workload {
        name: "bulk",
        operation: "KiB",
        operations: 524_288,
        counted: [4_096, 20_480],
        goals: &[("madsim", 2.0), ("turmoil", 1.4)],
    },
    Workload {
        name: "bulk-fair",
        operation: "KiB",
        operations: 524_288,
        counted: [5_120, 20_480],
        goals: &[],
    },
    Workload {
        name: "bulk-rough",
        operation: "KiB",
        operations: 524_288,
        counted: [5_120, 20_480],
        goals: &[],
    },
    Workload {
        name: "gossip-10",
        operation: "message",
        operations: 200_000,
        counted: [5_000, 25_000],
        goals: &[],
    },
    Workload {
        name: "gossip-200",
        operation: "message",
        operations: 2_388_000,
        counted: [40_000, 80_000],
        goals: &[],
    },
    Workload {
        name: "idle-500",
        operation: "simulated hour",
        operations: 10,
        counted: [1, 2],
        goals: &[],
    },
];

/// The most CPU nanoseconds that detsim may take for one operation, whatever peers take.
pub const CEILINGS: &[(&str, f64)] = &[("hold", 3_000.0), ("idle-500", 50_000_000.0)];

/// A workload that may take at most so many times what another takes.
pub const RELATIONS: &[(&str, &str, f64)] = &[
    ("echo-rough", "echo-fair", 1.5),
    ("bulk-rough", "bulk-fair", 1.5),
    ("gossip-200", "gossip-10", 1.5),
];

/// Instructions that one operation may take.
pub const INSTRUCTIONS_MAX: &[(&str, f64)] = &[("raft", 4_500_000.0)];

/// One memory check.
#[derive(Clone, Copy, Debug)]
pub struct MemoryCheck {
    /// The name on command lines and in tables.
    pub name: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// Operations of the check.
    pub operations: u64,
    /// The most bytes that one operation may leave behind.
    pub bytes_max: f64,
}

/// Half a byte: what a process may grow by per operation and still be called flat. Pages that the
/// allocator touches late come to a few hundred KiB; anything kept per operation is 8 bytes or more.
const FLAT: f64 = 0.5;

/// Every memory check, in the order of the table.
pub const MEMORY_CHECKS: &[MemoryCheck] = &[
    MemoryCheck {
        name: "memory-finished",
        operation: "finished task",
        operations: 1_000_000,
        bytes_max: FLAT,
    },
    MemoryCheck {
        name: "memory-repolled",
        operation: "re-poll of one pinned sleep",
        operations: 1_000_000,
        bytes_max: FLAT,
    },
    MemoryCheck {
        name: "memory-timeouts",
        operation: "timeout that ended early",
        operations: 500_000,
        bytes_max: FLAT,
    },
    MemoryCheck {
        name: "memory-parked",
        operation: "parked task, beyond its future",
        operations: 100_000,
        bytes_max: 400.0,
    },
    // A page in each GiB, not yet durable: its 4 KiB in the cache and in the journal, and what it takes
    // to find them.
    MemoryCheck {
        name: "memory-sparse",
        operation: "GiB of a sparse file, with a page in it",
        operations: 10_000,
        bytes_max: 9_216.0,
    },
];
