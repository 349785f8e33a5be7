//! The known name that a mistyped one was meant to be.

/// The word of `known` that `typed` is most likely a slip of, if any is near.
///
/// Near means at most one edit in three letters, or a part of the word that is itself a word long.
pub(super) fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let reach = (typed.len() / 3).max(1);
    known
        .into_iter()
        .map(|word| (distance(typed, word), word))
        .filter(|(edits, word)| *edits <= reach || (typed.len() >= 4 && word.contains(typed)))
        .min()
        .map(|(_, word)| word)
}

/// Levenshtein's distance, a row of the table at a time.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, a) in from.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (column, b) in to.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distance_counts_inserted_removed_and_replaced_letters() {
        for (from, to, edits) in [
            ("", "", 0),
            ("", "seeds", 5),
            ("seed", "seeds", 1),
            ("sseeds", "seeds", 1),
            ("speed", "seeds", 2),
            ("stratgey", "strategy", 2),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(from, to), edits, "{from} to {to}");
            assert_eq!(distance(to, from), edits, "{to} to {from}");
        }
    }

    #[test]
    fn a_slip_finds_its_word_and_a_stranger_finds_none() {
        let known = ["seeds", "strategy", "max_steps", "start_paused"];
        for (typed, word) in [
            ("seed", Some("seeds")),
            ("stratgey", Some("strategy")),
            ("steps", Some("max_steps")),
            ("paused", Some("start_paused")),
            ("timeout", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known), word, "{typed}");
        }
    }
}
