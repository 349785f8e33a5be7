//! Golden comparisons.

use expect_test::{Expect, expect};

use super::super::sample::{header, long, story};
use super::*;

fn recorded(trace: Trace) -> Recorded {
    Recorded { header: header(), trace }
}

fn check(a: Trace, b: Trace, expect: Expect) {
    let text = diff(&recorded(a), &recorded(b), &DiffOptions::default());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    expect.assert_eq(&text);
}

#[test]
fn the_original_and_the_minimised_run() {
    check(
        story(false),
        story(true),
        expect![[r#"
            a: pool::drains, seed 847291, random, detsim 0.1.0
            b: pool::drains, seed 847291, random, detsim 0.1.0

            decisions from a to b: 1 kept, 0 changed, 2 dropped, 0 added
              dropped     0.001200s        1  task 0 "fetcher" is picked instead of task 1 "writer"
              dropped     0.001200s        2  net/a/b draws 400000 instead of 0
              kept        0.001200s        2  task 1 "writer" is picked instead of task 0 "fetcher"

            they part at event 4, in step 1
                      time     step  node     task              event
                 0.000000s        0  a        fetcher 0         is spawned on a at src/pool.rs:30
                 0.000000s        0  b        writer 1          is spawned on b at src/pool.rs:31
                 0.001200s        1  a        fetcher 0         runs
                 0.001200s        1  a        fetcher 0         does lock on Mutex of src/pool.rs:12
            a    0.001200s        1  a        fetcher 0         is picked instead of task 1 "writer"
            a    0.001200s        2  a        fetcher 0         runs
            a    0.001200s        2                             net/a/b draws 400000 instead of 0
            a    0.001200s        2  a                          a -> b message 0 leaves, 500000 ns
            a    0.001200s        2  b        writer 1          is picked instead of task 0 "fetcher"
            b    0.001200s        1  a                          a -> b message 0 leaves, 100000 ns
            b    0.001200s        1  b        writer 1          is picked instead of task 0 "fetcher"
            b    0.001200s        2  b        writer 1          runs
            b    0.001200s        2  b        writer 1          waits: lock on Mutex of src/pool.rs:12
            b                                                   at …ly/nested/module/with/a/long/path/pool.rs:88
            b    0.001300s        2  b                          a -> b message 0 arrives
        "#]],
    );
}

#[test]
fn the_same_run() {
    check(
        story(true),
        story(true),
        expect![[r#"
        a: pool::drains, seed 847291, random, detsim 0.1.0
        b: pool::drains, seed 847291, random, detsim 0.1.0

        decisions from a to b: 1 kept, 0 changed, 0 dropped, 0 added
          kept        0.001200s        1  task 1 "writer" is picked instead of task 0 "fetcher"

        the same 19 events in both
    "#]],
    );
}

#[test]
fn a_run_that_ends_early() {
    let mut short = story(true);
    short.moments.truncate(6);
    check(
        story(true),
        short,
        expect![[r#"
            a: pool::drains, seed 847291, random, detsim 0.1.0
            b: pool::drains, seed 847291, random, detsim 0.1.0

            decisions from a to b: 1 kept, 0 changed, 0 dropped, 0 added
              kept        0.001200s        1  task 1 "writer" is picked instead of task 0 "fetcher"

            they part at event 6, in step 2
                      time     step  node     task              event
                 0.000000s        0  b        writer 1          is spawned on b at src/pool.rs:31
                 0.001200s        1  a        fetcher 0         runs
                 0.001200s        1  a        fetcher 0         does lock on Mutex of src/pool.rs:12
                 0.001200s        1  a                          a -> b message 0 leaves, 100000 ns
                 0.001200s        1  b        writer 1          is picked instead of task 0 "fetcher"
            a    0.001200s        2  b        writer 1          runs
            a    0.001200s        2  b        writer 1          waits: lock on Mutex of src/pool.rs:12
            a                                                   at …ly/nested/module/with/a/long/path/pool.rs:88
            a    0.001300s        2  b                          a -> b message 0 arrives
            a    0.001300s        2                             partition a -> b (drops)
            a    0.001300s        2  a                          a -> b message 1 leaves, 100000 ns
            b ends after 6 events
        "#]],
    );
}

#[test]
fn many_decisions_are_folded() {
    let text = diff(&recorded(long(5_000)), &recorded(story(true)), &DiffOptions::default());
    assert!(text.lines().count() < 60, "{text}");
    assert!(text.contains("  dropped  and "), "{text}");
}

#[test]
fn kept_is_green_and_dropped_is_dim() {
    let options = DiffOptions { color: true, ..DiffOptions::default() };
    let text = diff(&recorded(story(false)), &recorded(story(true)), &options);
    assert!(text.contains("\x1b[32m  kept") && text.contains("\x1b[2m  dropped"), "{text}");
}

#[test]
fn numbers_of_tables_do_not_matter() {
    let (a, mut b) = (story(true), story(true));
    // The same texts under other numbers.
    let count = b.tables.texts.len() as u32;
    b.tables.texts = std::iter::repeat_n(String::new(), 3).chain(b.tables.texts).collect();
    assert!(count > 3);
    let shift = |id: &mut super::super::TextId| id.0 += 3;
    b.tables.nodes.iter_mut().for_each(shift);
    b.tables.choices.iter_mut().for_each(|chosen| shift(&mut chosen.domain));
    b.tables.objects.iter_mut().for_each(|object| shift(&mut object.site));
    b.tables.tasks.iter_mut().for_each(|task| (shift(&mut task.name), shift(&mut task.site)).0);
    for moment in &mut b.moments {
        match &mut moment.event {
            Event::Blocked { site, .. } => shift(site),
            Event::Noted { text, .. } => shift(text),
            Event::Panicked { message, .. } => shift(message),
            _ => {}
        }
    }
    assert_eq!(first_difference(&a, &b), None);
    b.moments.swap(3, 4);
    assert_eq!(first_difference(&a, &b), Some(3));
}
