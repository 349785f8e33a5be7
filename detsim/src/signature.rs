//! What makes two failures the same one: kind and site, and a message without its values: its numbers
//! and the words that it quotes.
//!
//! Owns: the rules by which sites and messages are cut down. Does not own: the signatures that the
//! kernel gives to its own verdicts. Invariant: pure functions; no address, seed or absolute path
//! comes out.

use crate::hook::Note;
use crate::outcome::Kind;

/// The part of a message that takes part in a signature.
const MESSAGE_CHARS_MAX: usize = 100;

/// The signature of a panic: `panic at src/pool.rs:88: index # out of bounds`.
pub(crate) fn of_panic(note: &Note) -> String {
    let message = note.message.lines().next().unwrap_or_default();
    match note.site.as_str() {
        // Without a site the words are all there is.
        "" => format!("{}: {}", Kind::Panic, without_numbers(message)),
        site => format!("{} at {site}: {}", Kind::Panic, without_values(message)),
    }
}

/// The signature of a test that returned an error: `property violated: Error: two leaders in term #`.
pub(crate) fn of_error(error: &str) -> String {
    let message = without_numbers(error.lines().next().unwrap_or_default());
    format!("{}: {message}", Kind::Property)
}

/// A message without its numbers and the single words that it quotes: `nobody said "#"`. Quoted
/// sentences stay.
fn without_values(message: &str) -> String {
    let text = without_numbers(message);
    for quote in ["\\\"", "\""] {
        let parts: Vec<&str> = text.split(quote).collect();
        // An escaped quote ends with a plain one: text that has them is cut along them alone.
        if parts.len() < 3 {
            continue;
        }
        let is_value = |(at, part): (usize, &&str)| {
            at % 2 == 1 && at + 1 < parts.len() && !part.trim().contains(' ')
        };
        let part = |(at, part)| if is_value((at, &part)) { "#" } else { part };
        return parts.iter().copied().enumerate().map(part).collect::<Vec<_>>().join(quote);
    }
    text
}

/// `text` with every number replaced by `#`, and cut to a length that reads as one line.
pub(crate) fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(MESSAGE_CHARS_MAX) {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            _ => out.push(c),
        }
    }
    out
}

/// A source file as it is told to people: what lies in a registry or in the standard library
/// loses the path of this machine before it.
pub(crate) fn short_file(file: &str) -> &str {
    if let Some((_, in_registry)) = file.split_once("/registry/src/") {
        return in_registry.split_once('/').map_or(in_registry, |(_, package)| package);
    }
    match file.strip_prefix("/rustc/").and_then(|rest| rest.split_once('/')) {
        Some((_, in_std)) => in_std,
        None => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_do_not_tell_failures_apart() {
        for (message, expected) in [
            (r#"nobody said "ann""#, r##"nobody said "#""##),
            (r#"nobody said "ann" to "bob", ever"#, r##"nobody said "#" to "#", ever"##),
            (r#"Error: "two leaders""#, r#"Error: "two leaders""#),
            (
                r#"Panic(Id(7), "nobody said \"ann \"", ..)"#,
                r##"Panic(Id(#), "nobody said \"#\"", ..)"##,
            ),
            (r#"an open " quote"#, r#"an open " quote"#),
        ] {
            assert_eq!(without_values(message), expected);
        }
    }

    #[test]
    fn numbers_do_not_tell_failures_apart() {
        let note = |message: &str| Note { site: "src/a.rs:7".to_owned(), message: message.into() };
        let signature = of_panic(&note("len is 12 but the index is 4096\nleft: 3"));
        assert_eq!(signature, "panic at src/a.rs:7: len is # but the index is #");
        assert_eq!(signature, of_panic(&note("len is 1 but the index is 2")));
        assert_eq!(of_panic(&Note::default()), "panic: ");
    }

    #[test]
    fn an_error_that_was_returned_has_no_place() {
        let signature = of_error("Error: TwoLeaders { term: 3 }\nbacktrace: ..");
        assert_eq!(signature, "property violated: Error: TwoLeaders { term: # }");
    }

    #[test]
    fn long_messages_are_cut() {
        assert_eq!(without_numbers(&"x".repeat(500)).len(), MESSAGE_CHARS_MAX);
    }

    #[test]
    fn paths_of_the_machine_are_left_out() {
        for (file, short) in [
            ("src/pool.rs", "src/pool.rs"),
            (
                "/home/me/.cargo/registry/src/index-1/bytes-1.2.3/src/lib.rs",
                "bytes-1.2.3/src/lib.rs",
            ),
            ("/rustc/59807616e1/library/core/src/option.rs", "library/core/src/option.rs"),
        ] {
            assert_eq!(short_file(file), short);
        }
    }
}
