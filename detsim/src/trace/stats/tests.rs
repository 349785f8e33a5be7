//! Golden counts.

use expect_test::expect;

use super::super::sample::{header, long, story};
use super::*;
use detsim_executor::event::Moment;

#[test]
fn the_counts_of_the_story() {
    let recorded = Recorded { header: header(), trace: story(false) };
    let text = stats(&recorded, &StatsOptions::default());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    expect![[r#"
        pool::drains, seed 847291, random, detsim 0.1.0
        22 events, 4 steps, 0.251700s of virtual time, 2 tasks, 2 nodes, 3 choices

        picks by task
          task                             node            picks   share    stops    waits operations
          fetcher 0                        a                   2   50.0%        0        0          1
          writer 1                         b                   2   50.0%        0        1          0

        waits by reason
                 1 #################### …/pool.rs:12 at src/deeply/nested/module/with/a/long/path/pool.rs:88

        largest jumps of virtual time, and what they end with
           +0.250000s      0.251700s        3  heal a -> b
           +0.001200s      0.001200s        1  task 0 "fetcher" runs
           +0.000500s      0.001700s        3  a -> b message 0 arrives

        messages by link
          link                          sent  arrived    lost     cut   twice    held       mean   longest
          a -> b                           2        1       0       1       0       0    0.500ms   0.500ms

        faults of nodes and links
          1 crashes, 0 kills, 0 pauses, 1 partitions
    "#]].assert_eq(&text);
}

#[test]
fn an_empty_trace_has_counts() {
    let recorded = Recorded { header: header(), trace: Trace::default() };
    expect![[r#"
        pool::drains, seed 847291, random, detsim 0.1.0
        0 events, 0 steps, 0.000000s of virtual time, 0 tasks, 0 nodes, 0 choices

        picks by task
          none

        waits by reason
          none

        largest jumps of virtual time, and what they end with
          none

        messages by link
          none

        faults of nodes and links
          0 crashes, 0 kills, 0 pauses, 0 partitions
    "#]]
    .assert_eq(&stats(&recorded, &StatsOptions::default()));
}

#[test]
fn long_tables_are_cut_and_add_up() {
    let recorded = Recorded { header: header(), trace: long(100_000) };
    let text = stats(&recorded, &StatsOptions { rows: 3 });
    assert!(text.contains("  and 47 more tasks\n"), "{text}");
    let counts = Counts::of(&recorded.trace, 3);
    let is_step = |moment: &&Moment| matches!(moment.event, Event::Stepped { .. });
    let steps = recorded.trace.moments.iter().filter(is_step).count() as u64;
    assert_eq!(counts.tasks.values().map(|task| task.picks).sum::<u64>(), steps);
    assert!(counts.jumps.is_sorted_by(|a, b| a.0 >= b.0) && counts.jumps.len() == 3);
}

#[test]
fn shares_are_exact() {
    assert_eq!([percent(1, 3), percent(0, 0), percent(5, 5)], ["33.3%", "0.0%", "100.0%"]);
    assert_eq!(ms(1_234_567), "1.234ms");
}
