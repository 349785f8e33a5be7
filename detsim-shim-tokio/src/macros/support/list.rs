//! Futures of several types in one place, pinned together.
//!
//! Invariant: a list takes the room of what is in it, and is dropped from its first member on.

use std::pin::Pin;

/// No futures.
#[derive(Debug, Default)]
pub struct Nil;

pin_project_lite::pin_project! {
    /// Those of another list, and one more.
    #[derive(Debug)]
    pub struct And<L, F> {
        #[pin]
        rest: L,
        #[pin]
        last: F,
    }
}

impl<L, F> And<L, F> {
    pub(super) fn parts(self: Pin<&mut Self>) -> (Pin<&mut L>, Pin<&mut F>) {
        let parts = self.project();
        (parts.rest, parts.last)
    }
}

/// Futures in their order.
pub trait List: Sized {
    /// How many there are.
    const COUNT: u32;

    /// All of them: `((((), first), second), third)`.
    type Pins<'a>
    where
        Self: 'a;

    /// One more at the end.
    fn and<F>(self, last: F) -> And<Self, F> {
        And { rest: self, last }
    }

    /// Each of them by itself.
    fn split(self: Pin<&mut Self>) -> Self::Pins<'_>;
}

impl List for Nil {
    const COUNT: u32 = 0;
    type Pins<'a> = ();

    fn split(self: Pin<&mut Self>) {}
}

impl<L: List, F> List for And<L, F> {
    const COUNT: u32 = L::COUNT + 1;
    type Pins<'a>
        = (L::Pins<'a>, Pin<&'a mut F>)
    where
        Self: 'a;

    fn split(self: Pin<&mut Self>) -> Self::Pins<'_> {
        let (rest, last) = self.parts();
        (rest.split(), last)
    }
}
