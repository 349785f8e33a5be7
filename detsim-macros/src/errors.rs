//! Everything that is wrong with one use of an attribute, gathered so that the user sees it at once.
//!
//! Owns only the gathering: what is wrong, and where, is said by whoever finds it. Errors keep the
//! order in which they were found.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// A list of errors; as tokens, one `compile_error!` for each.
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    /// Records `message` over the whole of `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    /// The value of `result`, or `None` once its error is recorded.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }
}

impl ToTokens for Errors {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.iter().map(syn::Error::to_compile_error));
    }
}
