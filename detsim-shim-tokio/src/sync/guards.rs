//! What every guard does: it stands for its value.
//!
//! Owns: the traits of guards that have a field `held`. Does not own: how they are come by.

/// `Deref`, `Debug` and `Display` of guards, and `DerefMut` where `mut` stands before the value.
macro_rules! guards {
    ($( [$($generics:tt)*] $guard:ty => $($value:ident)+; )+) => { $(
        guards!(@deref [$($generics)*] $guard => $($value)+);
        guards!(@shown [$($generics)*] $guard => $($value)+);
    )+ };
    (@deref [$($generics:tt)*] $guard:ty => mut $value:ident) => {
        guards!(@deref [$($generics)*] $guard => $value);

        impl<$($generics)*> std::ops::DerefMut for $guard {
            #[inline]
            fn deref_mut(&mut self) -> &mut $value {
                &mut self.held
            }
        }
    };
    (@deref [$($generics:tt)*] $guard:ty => $value:ident) => {
        impl<$($generics)*> std::ops::Deref for $guard {
            type Target = $value;
            #[inline]
            fn deref(&self) -> &$value {
                &self.held
            }
        }
    };
    (@shown [$($generics:tt)*] $guard:ty => mut $value:ident) => {
        guards!(@shown [$($generics)*] $guard => $value);
    };
    (@shown [$($generics:tt)*] $guard:ty => $value:ident) => {
        impl<$($generics)*> std::fmt::Debug for $guard
        where
            $value: std::fmt::Debug,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.held.fmt(f)
            }
        }

        impl<$($generics)*> std::fmt::Display for $guard
        where
            $value: std::fmt::Display,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.held.fmt(f)
            }
        }
    };
}

pub(super) use guards;
