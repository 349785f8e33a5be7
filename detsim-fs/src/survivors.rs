//! Who survives a crash.
//!
//! Owns: how a set of survivors is drawn among pending writes, and which sectors a torn write
//! keeps. Does not own: when a crash comes, or which atoms a survivor brings along
//! ([`crate::disk`]).
//!
//! Every draw goes through `pick`, which returns a number below its argument. A stream of random
//! words is one such function, a recorded tape another, and one that counts up enumerates every
//! outcome.
//!
//! # Why not a coin for each write
//! Fair coins over twenty writes almost never leave all but one, or just one, and those are the
//! two sets that tell which write a program forgot to order. So the shape of the set is drawn first.

/// A source of draws: a number below its argument.
pub(crate) type Pick<'a> = &'a mut dyn FnMut(u64) -> u64;

/// The shapes of a set of survivors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Nothing,
    Everything,
    Prefix,
    AllButOne,
    ExactlyOne,
    EachByItself,
}

/// Each shape with its share of all crashes, in percent.
const SHAPES: [(Shape, u64); 6] = [
    // First, since a draw of 0 is what a run does without this choice: nothing is lost.
    (Shape::Everything, 10),
    (Shape::Nothing, 15),
    (Shape::Prefix, 25),
    (Shape::AllButOne, 20),
    (Shape::ExactlyOne, 15),
    (Shape::EachByItself, 15),
];

/// Draws which of `count` pending writes survive.
pub(crate) fn draw(count: usize, pick: Pick<'_>) -> Vec<bool> {
    draw_shaped(count, pick).0
}

/// As [`draw`]. Also says whether the set is told by the one write that it lacks: then a write that
/// cannot survive without that one is to be lost with it, rather than to bring it back.
pub(crate) fn draw_shaped(count: usize, pick: Pick<'_>) -> (Vec<bool>, bool) {
    if count == 0 {
        return (Vec::new(), false);
    }
    let shape = draw_shape(pick);
    (draw_set(shape, count, pick), shape == Shape::AllButOne)
}

fn draw_set(shape: Shape, count: usize, pick: Pick<'_>) -> Vec<bool> {
    let bound = count as u64;
    match shape {
        Shape::Nothing => vec![false; count],
        Shape::Everything => vec![true; count],
        Shape::Prefix => prefix(count, pick(bound + 1)),
        Shape::AllButOne => single(count, pick(bound), false),
        Shape::ExactlyOne => single(count, pick(bound), true),
        Shape::EachByItself => {
            let percent = pick(101);
            (0..count).map(|_| pick(100) < percent).collect()
        }
    }
}

/// The sectors that a torn write of `count` sectors keeps when the disk writes in order: the first
/// few, at least one and never all.
///
/// `count` is at least 2.
pub(crate) fn torn_prefix(count: usize, pick: Pick<'_>) -> Vec<bool> {
    prefix(count, 1 + pick(count as u64 - 1))
}

/// The sectors that a torn write of `count` sectors keeps when the disk writes in an order of its
/// own: at least one and never all.
///
/// `count` is at least 2.
pub(crate) fn torn_subset(count: usize, pick: Pick<'_>) -> Vec<bool> {
    let kept = pick(count as u64) as usize;
    let lost = (kept + 1 + pick(count as u64 - 1) as usize) % count;
    (0..count).map(|i| i == kept || (i != lost && pick(2) == 1)).collect()
}

fn draw_shape(pick: Pick<'_>) -> Shape {
    let mut percent = pick(100);
    for (shape, share) in SHAPES {
        if percent < share {
            return shape;
        }
        percent -= share;
    }
    unreachable!("invariant: the shares add up to 100")
}

fn prefix(count: usize, len: u64) -> Vec<bool> {
    (0..count as u64).map(|i| i < len).collect()
}

/// `count` entries of which only the one at `index` is `value`.
fn single(count: usize, index: u64, value: bool) -> Vec<bool> {
    (0..count as u64).map(|i| (i == index) == value).collect()
}

#[cfg(test)]
mod tests;
