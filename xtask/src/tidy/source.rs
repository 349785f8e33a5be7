//! The files of the tree, and Rust text with everything but code blanked out.
//!
//! Not a parser: the rules ask for words, braces and lines only, and blanking comments and
//! literals is all that it takes to answer without being fooled by a string.

use std::fs;
use std::io;
use std::path::Path;

/// Kinds of files that people write here. Anything else (locks, snapshots of a compiler's
/// messages, recorded traces) has a form that is not ours to judge.
const WRITTEN: [&str; 5] = ["rs", "toml", "md", "sh", "yml"];

/// Paths of all written files below `root`, with `/` between their parts, sorted.
pub(super) fn files(root: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            match entry.file_type()?.is_dir() {
                true if is_ours(&name) => folders.push(path),
                false if is_written(&name) || folder == ".ci" => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Build output and the innards of git are nobody's text.
fn is_ours(folder: &str) -> bool {
    folder != ".git" && folder != "target" && !folder.starts_with("target-")
}

fn is_written(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| WRITTEN.contains(&extension))
}

/// `text` with comments, strings and character literals turned to spaces. Lines keep their
/// numbers and their breaks.
pub(super) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        // A word is taken whole: the `r` of `for` begins no raw string.
        let (len, is_code) = match word_len(rest) {
            0 => match literal_len(rest) {
                0 => (next.len_utf8(), true),
                len => (len, false),
            },
            len => match prefixed_literal_len(rest, len) {
                0 => (len, true),
                len => (len, false),
            },
        };
        let (taken, after) = rest.split_at(len);
        match is_code {
            true => code.push_str(taken),
            false => code.extend(taken.chars().map(|c| if c == '\n' { '\n' } else { ' ' })),
        }
        rest = after;
    }
    code
}

/// Bytes of the word of letters, digits and underscores that `text` begins with.
pub(super) fn word_len(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Bytes of the comment or literal without a prefix that `text` begins with.
fn literal_len(text: &str) -> usize {
    match text.as_bytes() {
        [b'/', b'/', ..] => text.find('\n').unwrap_or(text.len()),
        [b'/', b'*', ..] => block_comment_len(text),
        [b'"', ..] => quoted_len(text, '"'),
        [b'\'', b'\\', ..] => quoted_len(text, '\''),
        // A quote, one character and a quote again; all else is a lifetime.
        [b'\'', ..] => {
            let mut chars = text.char_indices().skip(1);
            let closes = chars.nth(1).filter(|&(_, close)| close == '\'');
            closes.map_or(0, |(at, _)| at + 1)
        }
        _ => 0,
    }
}

/// Bytes of a literal whose prefix is the word of `prefix` bytes: `b".."`, `r#".."#`, `b'.'`.
fn prefixed_literal_len(text: &str, prefix: usize) -> usize {
    let (word, rest) = text.split_at(prefix);
    let len = match word {
        "r" | "br" | "cr" => raw_string_len(rest),
        "b" | "c" => literal_len(rest).min(if rest.starts_with('/') { 0 } else { usize::MAX }),
        _ => 0,
    };
    if len == 0 { 0 } else { prefix + len }
}

fn raw_string_len(text: &str) -> usize {
    let hashes = text.len() - text.trim_start_matches('#').len();
    if !text[hashes..].starts_with('"') {
        return 0;
    }
    let close = format!("\"{}", &text[..hashes]);
    let body = hashes + 1;
    text[body..].find(&close).map_or(text.len(), |at| body + at + close.len())
}

/// Block comments nest.
fn block_comment_len(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_u32);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        let step = if rest.starts_with(b"/*") {
            depth += 1;
            2
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            2
        } else {
            1
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Bytes up to and with the closing `quote`; a backslash hides what follows it.
fn quoted_len(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expect: Expect) {
        let code = code_only(text);
        assert_eq!(code.lines().count(), text.lines().count());
        // Runs of blanks say nothing, and a snapshot of them is hard to read.
        let short = code.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        expect.assert_eq(&short);
    }

    #[test]
    fn comments_go() {
        check("a // unsafe \"\nb /* x /* y */ unsafe */ c", expect!["a \nb c"]);
    }

    #[test]
    fn strings_go_with_their_prefixes() {
        check(r##"a("x\"y", b"z", r#"q" // "#, r"\", c"w") b"##, expect!["a( , , , , ) b"]);
        check("let s = \"one\ntwo\"; x", expect!["let s = \n ; x"]);
    }

    #[test]
    fn characters_go_and_lifetimes_stay() {
        check(r"f::<'a>('{', '\'', '\u{7d}', b'}', 'ä') g", expect!["f::<'a>( , , , , ) g"]);
    }

    #[test]
    fn words_that_end_like_a_prefix_are_words() {
        check(r#"for"x" r#fn br/ /b"#, expect!["for r#fn br/ /b"]);
    }

    #[test]
    fn folders_of_builds_are_skipped() {
        assert!(is_ours("src") && is_ours(".ci") && is_ours("targets"));
        assert!(!is_ours("target") && !is_ours("target-madsim") && !is_ours(".git"));
    }
}
