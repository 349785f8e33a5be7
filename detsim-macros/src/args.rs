//! What an attribute's arguments ask for, and the reading that both vocabularies share.
//!
//! `detsim` and `tokio` below each own a vocabulary: its names, its checks and its words for what is
//! wrong. Either gives the same `Settings`. What a setting *does* is the runtime's business: here it
//! is a method call on the `Spec` that the expansion builds.

pub(crate) mod detsim;
mod nearest;
pub(crate) mod tokio;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Lit, Meta, Token};

/// The arguments of one attribute, checked.
#[derive(Default)]
pub(crate) struct Settings {
    /// The crate that the expansion calls into, where it is not the usual one.
    pub(crate) root: Option<syn::Path>,
    /// Calls on the `Spec`, in the order they were written. Only what was given is here.
    pub(crate) calls: Vec<Call>,
}

impl Settings {
    /// Puts a call without a value before the others.
    pub(crate) fn mark(&mut self, method: &'static str) {
        self.calls.insert(0, Call { method, value: TokenStream::new() });
    }

    fn call(&mut self, method: &'static str, value: impl ToTokens) {
        self.calls.push(Call { method, value: value.into_token_stream() });
    }
}

/// One method call on a `Spec`: `.method(value)`, or `.method()` of an empty value.
pub(crate) struct Call {
    method: &'static str,
    value: TokenStream,
}

impl ToTokens for Call {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let (method, value) = (Ident::new(self.method, Span::call_site()), &self.value);
        tokens.extend(quote!(.#method(#value)));
    }
}

/// Splits what stands between an attribute's parentheses.
fn split(args: TokenStream) -> syn::Result<Punctuated<Meta, Token![,]>> {
    Punctuated::parse_terminated.parse2(args)
}

/// The literal that `value` is. A macro's `$n:literal` arrives in an invisible group.
fn literal(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Group(group) => literal(&group.expr),
        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
