//! Golden pages of the timeline.

use expect_test::{Expect, expect};

use super::super::sample::{header, story};
use super::*;

fn recorded() -> Recorded {
    Recorded { header: header(), trace: story(false) }
}

fn check(change: impl FnOnce(&mut ViewOptions), expect: Expect) {
    let mut options = ViewOptions::default();
    change(&mut options);
    let text = view(&recorded(), &options);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    expect.assert_eq(&text);
}

#[test]
fn the_whole_story() {
    check(
        |_| {},
        expect![[r#"
            pool::drains, seed 847291, random, detsim 0.1.0
                    time     step  node     task              event
               0.000000s        0  a        fetcher 0         is spawned on a at src/pool.rs:30
               0.000000s        0  b        writer 1          is spawned on b at src/pool.rs:31
               0.001200s        1  a        fetcher 0         runs
               0.001200s        1  a        fetcher 0         does lock on Mutex of src/pool.rs:12
               0.001200s        1  a        fetcher 0         is picked instead of task 1 "writer"
               0.001200s        2  a        fetcher 0         runs
               0.001200s        2                             net/a/b draws 400000 instead of 0
               0.001200s        2  a                          a -> b message 0 leaves, 500000 ns
               0.001200s        2  b        writer 1          is picked instead of task 0 "fetcher"
               0.001200s        3  b        writer 1          runs
               0.001200s        3  b        writer 1          waits: lock on Mutex of src/pool.rs:12
                                                              at …eply/nested/module/with/a/long/path/pool.rs:88
               0.001700s        3  b                          a -> b message 0 arrives
               0.001700s        3                             partition a -> b (drops)
               0.001700s        3  a                          a -> b message 1 leaves, 500000 ns
               0.001700s        3  a                          a -> b message 1 is lost (partition)
               0.251700s        3                             heal a -> b
               0.251700s        3  b                          notes: leader of term 2 </script>
               0.251700s        3  a                          crashes
               0.251700s        3  a        fetcher 0         is aborted
               0.251700s        3  a                          disk loses power: 3 sectors survive, 1 lost, 0
                                                              torn
               0.251700s        4  b        writer 1          runs
               0.251700s        4  b        writer 1          panics: index out of bounds
        "#]],
    );
}

#[test]
fn filters() {
    check(
        |options| options.task = Some("writer".to_owned()),
        expect![[r#"
            pool::drains, seed 847291, random, detsim 0.1.0
                    time     step  node     task              event
               0.000000s        0  b        writer 1          is spawned on b at src/pool.rs:31
               0.001200s        2  b        writer 1          is picked instead of task 0 "fetcher"
               0.001200s        3  b        writer 1          runs
               0.001200s        3  b        writer 1          waits: lock on Mutex of src/pool.rs:12
                                                              at …eply/nested/module/with/a/long/path/pool.rs:88
               0.251700s        4  b        writer 1          runs
               0.251700s        4  b        writer 1          panics: index out of bounds
        "#]],
    );
    check(
        |options| options.node = Some("a".to_owned()),
        expect![[r#"
        pool::drains, seed 847291, random, detsim 0.1.0
                time     step  node     task              event
           0.000000s        0  a        fetcher 0         is spawned on a at src/pool.rs:30
           0.001200s        1  a        fetcher 0         runs
           0.001200s        1  a        fetcher 0         does lock on Mutex of src/pool.rs:12
           0.001200s        1  a        fetcher 0         is picked instead of task 1 "writer"
           0.001200s        2  a        fetcher 0         runs
           0.001200s        2  a                          a -> b message 0 leaves, 500000 ns
           0.001700s        3  a                          a -> b message 1 leaves, 500000 ns
           0.001700s        3  a                          a -> b message 1 is lost (partition)
           0.251700s        3  a                          crashes
           0.251700s        3  a        fetcher 0         is aborted
           0.251700s        3  a                          disk loses power: 3 sectors survive, 1 lost, 0
                                                          torn
    "#]],
    );
    check(
        |options| options.kinds = vec![EventKind::Net, EventKind::Node],
        expect![[r#"
        pool::drains, seed 847291, random, detsim 0.1.0
                time     step  node     task              event
           0.001200s        2  a                          a -> b message 0 leaves, 500000 ns
           0.001700s        3  b                          a -> b message 0 arrives
           0.001700s        3                             partition a -> b (drops)
           0.001700s        3  a                          a -> b message 1 leaves, 500000 ns
           0.001700s        3  a                          a -> b message 1 is lost (partition)
           0.251700s        3                             heal a -> b
           0.251700s        3  a                          crashes
    "#]],
    );
    check(
        |options| {
            options.task = Some("1".to_owned());
            options.since = SimTime::from_millis(200);
        },
        expect![[r#"
            pool::drains, seed 847291, random, detsim 0.1.0
                    time     step  node     task              event
               0.251700s        4  b        writer 1          runs
               0.251700s        4  b        writer 1          panics: index out of bounds
        "#]],
    );
    check(
        |options| options.task = Some("nobody".to_owned()),
        expect![[r#"
        pool::drains, seed 847291, random, detsim 0.1.0
        none of its 22 events is shown
        tasks of this trace: fetcher, writer
    "#]],
    );
}

#[test]
fn pages_follow_one_another() {
    let (mut seen, mut from_step, mut skip) = (Vec::new(), 0, 0);
    loop {
        let options = ViewOptions { from_step, skip, first: 3, ..ViewOptions::default() };
        let text = view(&recorded(), &options);
        let (last, rows) = text.lines().skip(2).collect::<Vec<_>>().split_last().map_or_else(
            || panic!("{text}"),
            |(last, rows)| {
                ((*last).to_owned(), rows.iter().map(ToString::to_string).collect::<Vec<_>>())
            },
        );
        let Some((_, next)) = last.split_once("--from ") else {
            seen.extend(rows);
            seen.push(last);
            break;
        };
        seen.extend(rows);
        let mut words = next.split(" --skip ").map(|word| word.parse::<usize>().unwrap());
        from_step = words.next().unwrap() as u32;
        skip = words.next().unwrap_or(0);
    }
    let whole = view(&recorded(), &ViewOptions::default());
    assert_eq!(seen, whole.lines().skip(2).collect::<Vec<_>>());
}

#[test]
fn colour_only_adds() {
    let options = ViewOptions { color: true, ..ViewOptions::default() };
    let colored = view(&recorded(), &options);
    assert!(colored.contains("\x1b[31m"), "{colored}");
    let mut plain = String::new();
    for part in colored.split('\x1b') {
        let bare = part.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        plain.push_str(bare.map_or(part, |(_, text)| text));
    }
    assert_eq!(plain, view(&recorded(), &ViewOptions::default()));
}

#[test]
fn what_the_program_says_moves_no_cursor() {
    let mut recorded = recorded();
    for text in &mut recorded.trace.tables.texts {
        text.push_str("\x1b[2J\r\n");
    }
    let text = view(&recorded, &ViewOptions::default());
    assert!(!text.contains(['\x1b', '\r']), "{text}");
}
