//! The form of the file, and what is broken when.

use super::*;
use expect_test::{Expect, expect};

const SAMPLE: &str = "\
passing 1

[a]
flaky luck
pass one
todo three
skip two \"wall-clock timing\"

[b] todo

[c]
";

fn sample() -> Expectations {
    SAMPLE.parse().unwrap()
}

fn results(text: &str) -> Results {
    let mut results = Results::default();
    for word in text.split_whitespace() {
        match word.split_once(['+', '-']) {
            Some((program, name)) => {
                let test = Test { program: program.to_owned(), name: name.to_owned() };
                let outcome = if word.contains('+') { Outcome::Pass } else { Outcome::Fail };
                results.tests.insert(test, outcome);
            }
            None => results.refused.push(word.to_owned()),
        }
    }
    results
}

fn check_judged(text: &str, expect: Expect) {
    let judged = sample().judge(&results(text), |_| true);
    let broken = judged.broken.iter().map(|line| format!("{line}\n")).collect::<String>();
    expect.assert_eq(&(broken + &judged.news()));
}

#[test]
fn the_file_is_read_as_it_is_written() {
    assert_eq!(sample().to_string(), HEAD.to_owned() + SAMPLE);
    assert_eq!(sample().to_string().parse::<Expectations>().unwrap(), sample());
}

#[test]
fn a_line_of_no_known_form_is_named() {
    for line in ["maybe one", "skip two \"too hard\"", "skip two", "[a] skip", "passing all"] {
        let failure = format!("[a]\n{line}\n").parse::<Expectations>().unwrap_err();
        assert_eq!(failure.to_string(), format!("expectations, line 2: `{line}`"));
    }
}

#[test]
fn what_is_as_expected_is_silent() {
    check_judged("a+one a-two a-three a+luck b", expect![""]);
}

#[test]
fn what_is_worse_or_stale_is_broken() {
    check_judged(
        "a-one a+two a+four a-luck c",
        expect![[r#"
        a::four: nothing is expected of it
        a::one: expected to pass, fails
        a::two: passes, and is skipped for wall-clock timing
        c: does not compile
        a::three: expected, but there is no such test
    "#]],
    );
    check_judged(
        "a",
        expect![[r#"
        a: does not compile
    "#]],
    );
}

#[test]
fn what_is_better_is_news() {
    check_judged(
        "a+one a-two a+three a-luck b+new",
        expect![[r#"
        better than expected: a::three, b::new; `--update` writes it down
    "#]],
    );
}

#[test]
fn the_count_only_goes_up() {
    let lowered = SAMPLE.replace("pass one", "todo one").parse::<Expectations>().unwrap();
    let judged = lowered.judge(&results("a-one a-two a-three a+luck b"), |_| true);
    assert_eq!(
        judged.broken,
        ["the count of passing tests only goes up: it was 1, and is said to be 0"]
    );
}

#[test]
fn programs_that_were_not_asked_for_are_left_alone() {
    assert!(sample().judge(&results("b"), |name| name == "b").broken.is_empty());
    let mut updated = sample();
    updated.update(&results("b+new"), |name| name == "b");
    assert_eq!(updated.programs["a"], sample().programs["a"]);
}

#[test]
fn an_update_takes_what_is_better_and_nothing_that_is_worse() {
    let mut updated = sample();
    updated.update(&results("a-one a+two a+three a+luck a-four b+new d"), |_| true);
    expect![[r#"
        passing 3

        [a]
        todo four
        flaky luck
        pass one
        pass three
        skip two "wall-clock timing"

        [b]
        pass new

        [d] todo
    "#]]
    .assert_eq(updated.to_string().strip_prefix(HEAD).unwrap());
}

#[test]
fn a_test_that_demands_an_order_is_known_and_counts_as_passing() {
    let text = "passing 1\n[a]\nfifo first\n";
    let expectations: Expectations = text.parse().unwrap();
    let ordered: Vec<Test> = expectations.ordered().collect();
    assert_eq!(ordered, [Test { program: "a".to_owned(), name: "first".to_owned() }]);
    let judged = |seen| expectations.judge(&results(seen), |_| true).broken;
    assert!(judged("a+first").is_empty());
    assert_eq!(judged("a-first"), ["a::first: expected to pass, fails"]);
    assert_eq!(expectations.to_string(), HEAD.to_owned() + "passing 1\n\n[a]\nfifo first\n");
}
