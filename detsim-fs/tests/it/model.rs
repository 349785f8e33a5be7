//! An honest disk against a plain map.

use std::collections::BTreeMap;

use detsim_executor::Stream;
use detsim_fs::{FaultProfile, FaultyStorage};

use crate::ops::{Op, contents, sequence};

/// The specification: what readers see, and what a crash goes back to.
#[derive(Default)]
struct Spec {
    running: BTreeMap<u64, u8>,
    committed: BTreeMap<u64, u8>,
}

impl Spec {
    fn bytes(&self) -> Vec<u8> {
        let size = self.running.last_key_value().map_or(0, |(last, _)| last + 1);
        let mut bytes = vec![0; size as usize];
        self.running.iter().for_each(|(at, byte)| bytes[*at as usize] = *byte);
        bytes
    }
}

fn step(disk: &mut FaultyStorage, spec: &mut Spec, op: &Op) {
    match op {
        Op::Write { offset, bytes } => {
            assert_eq!(disk.write_at(*offset, bytes).unwrap(), bytes.len());
            spec.running.extend((*offset..).zip(bytes.iter().copied()));
        }
        Op::Read { offset, len } => {
            let mut buf = vec![0; *len];
            let read = disk.read_at(*offset, &mut buf).unwrap();
            let all = spec.bytes();
            let from = all.len().min(*offset as usize);
            let want = &all[from..all.len().min(from + len)];
            assert_eq!(&buf[..read], want);
        }
        Op::Sync => {
            disk.sync().unwrap();
            spec.committed = spec.running.clone();
        }
        Op::Crash => {
            disk.crash();
            spec.running = spec.committed.clone();
        }
    }
}

#[test]
fn an_honest_disk_is_a_map_with_a_commit() {
    for seed in 0..4_000 {
        let mut stream = Stream::named(seed, "model");
        let span = [30, 600, 3_000][(seed % 3) as usize];
        let mut disk = FaultyStorage::new(seed, FaultProfile::default());
        let mut spec = Spec::default();
        for op in sequence(&mut stream, 40, span) {
            step(&mut disk, &mut spec, &op);
            assert_eq!(contents(&disk), spec.bytes(), "seed {seed} after {op:?}");
        }
    }
}
