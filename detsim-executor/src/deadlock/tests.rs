//! Tests of the module above.

use super::*;

fn task(number: u32, waits_for: &[u32]) -> BlockedTask {
    let party = |n: &u32| PartyShown {
        task: format!("task {n}"),
        number: Some(*n),
        role: Role::Holds,
        site: "src/a.rs:1".to_owned(),
        count: 1,
        finished: false,
    };
    BlockedTask {
        number,
        name: None,
        node: None,
        spawned: "src/a.rs:9".to_owned(),
        held: Held::No,
        waits: vec![WaitsFor {
            op: "lock".to_owned(),
            resource: "Mutex".to_owned(),
            created: "src/a.rs:2".to_owned(),
            site: format!("src/a.rs:{}", 10 + number),
            since: 0,
            granted: false,
            parties: waits_for.iter().map(party).collect(),
        }],
        stack: Vec::new(),
        ready: false,
        would_run: false,
        unwakeable: false,
    }
}

#[test]
fn a_ring_is_found_once_and_starts_at_its_lowest_task() {
    let tasks = [task(3, &[1]), task(1, &[2]), task(2, &[3]), task(4, &[1])];
    assert_eq!(cycles(&tasks), [vec![1, 2, 3]]);
}

#[test]
fn a_task_that_waits_for_itself_is_a_ring() {
    assert_eq!(cycles(&[task(7, &[7])]), [vec![7]]);
}

#[test]
fn two_rings_are_two() {
    let tasks = [task(1, &[2]), task(2, &[1, 3]), task(3, &[2])];
    assert_eq!(cycles(&tasks), [vec![1, 2], vec![2, 3]]);
}

#[test]
fn a_reader_waits_for_the_writer_ahead_and_not_for_readers() {
    let mut tasks = [task(1, &[1, 2]), task(2, &[1])];
    let parties = &mut tasks[0].waits[0].parties;
    (parties[0].role, parties[1].role) = (Role::Reads, Role::Ahead);
    tasks[1].waits[0].parties[0].role = Role::Reads;
    assert_eq!(cycles(&tasks), [vec![1, 2]]);
}

#[test]
fn a_chain_is_no_ring() {
    assert!(cycles(&[task(1, &[2]), task(2, &[9])]).is_empty());
}
