//! The table as it looks, from samples made up here.

use super::{Row, Samples, ratio, render};
use bench_common::catalog::WORKLOADS;
use bench_common::{Sample, Work};
use expect_test::expect;

fn row(name: &str, events: u64, peers: [&[u64]; 3]) -> Row {
    let workload = WORKLOADS.iter().find(|workload| workload.name == name).unwrap();
    let sample = |&cpu_ns: &u64| Sample { work: Work { operations: 10, events }, cpu_ns };
    let samples = peers.map(|times| times.iter().map(sample).collect::<Samples>());
    Row { workload, samples: samples.to_vec() }
}

#[test]
fn the_table_holds_ours_against_each_goal_and_shows_absent_peers() {
    let rows = [
        row("yield-10", 0, [&[91, 90, 99], &[442, 440, 450], &[521, 500, 530]]),
        row("yield-100", 0, [&[101, 100, 102], &[354, 350, 360], &[516, 510, 520]]),
        row("yield-10k", 0, [&[250, 249, 251], &[467, 460, 470], &[882, 880, 890]]),
        row("raft", 29_000, [&[3_500_000], &[14_280_000], &[21_850_000]]),
        row("kv", 0, [&[5_000], &[], &[]]),
        row("hold", 0, [&[31_000], &[], &[]]),
        row("echo-fair", 0, [&[2_600], &[], &[]]),
        row("echo-rough", 0, [&[3_600], &[], &[]]),
    ];
    let expected = expect![[r#"
        CPU ns per operation, medians of 3; then how many times less detsim takes, and its goal
        workload    operation    detsim      tokio     madsim     to tokio    to madsim  spread
        yield-10    poll            9.1       44.2       52.1  4.9x >= 2.5  5.7x >= 5.0    10 %
        yield-100   poll           10.1       35.4       51.6  3.5x >= 2.5  5.1x >= 5.0     3 %
        yield-10k   poll           25.0       46.7       88.2  1.9x  < 2.5  3.5x  < 5.0     2 %
        raft        run         350,000  1,428,000  2,185,000         4.1x  6.2x >= 5.0     0 %
        kv          cycle         500.0          -          -            -            -     0 %
        hold        hold          3,100          -          -            -            -     0 %
        echo-fair   round trip    260.0          -          -            -            -     0 %
        echo-rough  round trip    360.0          -          -            -            -     0 %
        dearest to cheapest of yield-10, yield-100, yield-10k: detsim 2.7x, tokio 1.3x, madsim 1.7x
        raft: events a run: detsim 2,900, tokio 2,900, madsim 2,900
        echo-rough to echo-fair: detsim 1.38x <= 1.5
        hold: detsim 3,100 >  3,000
    "#]];
    expected.assert_eq(&render(&["detsim", "tokio", "madsim"], &rows, 3));
}

#[test]
fn without_our_figure_there_is_no_ratio() {
    assert_eq!(ratio(None, Some(50.0), Some(5.0)), "-");
}
