//! The names of every module and the macros are tokio's, with tokio's types. What the shim takes from tokio
//! as it is (adapters of `io`, children of processes) is not looked at: it is the same.
//!
//! One contract is compiled twice: over tokio and over the shim. What compiles over the one compiles over
//! the other; which traits a type has is looked up on both sides and compared.

use std::marker::PhantomData;

/// A type, and which traits it has: those that are to be tokio's exactly, and those that it may have
/// though tokio's has not.
#[derive(Debug)]
struct Fact {
    name: &'static str,
    exactly: Vec<&'static str>,
    at_least: Vec<&'static str>,
}

/// Stands for a type.
struct Probe<T: ?Sized>(PhantomData<T>);

fn probe<T: ?Sized>(_: &T) -> Probe<T> {
    Probe(PhantomData)
}

/// Stands for what a call would return that is not made.
fn made<T>(_: impl FnOnce() -> T) -> Probe<T> {
    Probe(PhantomData)
}

/// An argument of a call that is compiled and not made.
fn any<T>() -> T {
    unreachable!("it is compiled, not called")
}

/// For each trait a method of its name, which says whether a type has it: that of `Has` is found where
/// the type has the trait, that of `Otherwise` behind a reference where it has not.
macro_rules! traits {
    ($($module:ident: $bound:path;)+) => { $(
        mod $module {
            use super::Probe;

            pub(super) trait Has {
                fn $module(&self) -> bool {
                    true
                }
            }
            impl<T: ?Sized + $bound> Has for Probe<T> {}

            pub(super) trait Otherwise {
                fn $module(&self) -> bool {
                    false
                }
            }
            impl<T: ?Sized> Otherwise for &Probe<T> {}
        }
    )+ };
}

traits! {
    is_clone: Clone;
    is_copy: Copy;
    is_debug: std::fmt::Debug;
    is_default: Default;
    is_display: std::fmt::Display;
    is_eq: Eq;
    is_error: std::error::Error;
    is_ref_unwind_safe: std::panic::RefUnwindSafe;
    is_send: Send;
    is_sync: Sync;
    is_unpin: Unpin;
    is_unwind_safe: std::panic::UnwindSafe;
}

/// The names of those of the traits that the probe's type has.
macro_rules! having {
    ($probe:expr, $($module:ident)+) => {
        [$((stringify!($module), $probe.$module())),+]
            .into_iter()
            .filter_map(|(name, has)| has.then_some(name))
            .collect()
    };
}

/// What is known of the type that a probe stands for.
macro_rules! fact {
    ($name:expr, $probe:expr) => {{
        let probe = &$probe;
        Fact {
            name: $name,
            exactly: having!(probe, is_send is_sync is_unpin is_clone is_copy is_debug is_default is_display
                is_eq is_error),
            at_least: having!(probe, is_unwind_safe is_ref_unwind_safe),
        }
    }};
}

#[macro_use]
mod rows;

mod real;
mod shim;

/// What such a call returns is one of tokio's own `async fn`s, and of ours often another future with it in a
/// box: whether it may be kept over a panic is not compared.
fn sent(calls: Vec<Fact>) -> Vec<Fact> {
    calls.into_iter().map(|fact| Fact { at_least: Vec::new(), ..fact }).collect()
}

#[test]
fn types_have_the_traits_that_tokios_have() {
    let real = [real::types(), real::futures(), real::halves(), sent(real::calls())];
    let shim = [shim::types(), shim::futures(), shim::halves(), sent(shim::calls())];
    let (real, shim) = (real.into_iter().flatten(), shim.into_iter().flatten());
    let differ = |(real, shim): &(Fact, Fact)| {
        let lacks = |name| !shim.at_least.contains(name);
        assert_eq!(real.name, shim.name);
        real.exactly != shim.exactly || real.at_least.iter().any(lacks)
    };
    let differing: Vec<(Fact, Fact)> = real.zip(shim).filter(differ).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

#[test]
fn the_contract_is_met_at_run_time_too() {
    // The bodies are there to be compiled; running them shows that none of it is a panic.
    assert_eq!(real::run(), shim::run());
}
