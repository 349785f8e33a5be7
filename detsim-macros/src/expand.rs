//! What the attributes turn a function into.
//!
//! The function becomes a plain one of the same name that hands two things to the runtime: a `Spec`
//! (which test this is, where it stands, what its arguments ask for) and the function as it was
//! written. What a seed, a sweep or a runtime is, the callee knows; nothing here does.
//!
//! Invariants: no `cfg` in an expansion, every path absolute, and every generated token marked as
//! generated, so that no lint blames the user for it. Where something is wrong the expansion stays as
//! near to the right one as it can, so that one error does not bring others.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ReturnType, Type};

use crate::Role;
use crate::args::{self, Settings};
use crate::errors::Errors;
use crate::function::{Function, Shape};

/// `#[detsim::test]` and `#[detsim::main]`.
pub(crate) fn detsim(role: Role, args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(mut function) = errors.take(syn::parse2::<Function>(item.clone())) else {
        return quote!(#item #errors);
    };
    if role == Role::Test {
        for attribute in function.take_test_attributes() {
            let message = "`#[detsim::test]` makes this a test already: remove this attribute";
            errors.at(attribute, message);
        }
    }
    let shape = function.shape(role, &mut errors);
    let settings = args::detsim::read(role, shape, args, &mut errors);
    let function = match shape {
        Some(Shape::Async) => on_tokio(role, &function, &settings),
        Some(Shape::Scenario) => on_kernel(role, &function, &settings),
        None => function.into_token_stream(),
    };
    quote!(#function #errors)
}

/// `#[tokio::test]` and `#[tokio::main]`, as the shim exports them.
pub(crate) fn tokio(role: Role, args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(mut function) = errors.take(syn::parse2::<Function>(item.clone())) else {
        return quote!(#item #errors);
    };
    let checked = check_for_tokio(role, &mut function).and_then(|()| args::tokio::read(role, args));
    let mut settings = errors.take(checked).unwrap_or_default();
    if role == Role::Test {
        settings.mark("tokio_test");
    }
    let function = match role {
        Role::Test if function.sig.inputs.is_empty() => on_tokio(role, &function, &settings),
        _ => in_place(role, &function, &settings),
    };
    quote!(#function #errors)
}

/// What tokio demands of the function, in its words. A function that fails is mended, so that its
/// expansion compiles.
fn check_for_tokio(role: Role, function: &mut Function) -> syn::Result<()> {
    let second = match role {
        Role::Test => function.take_test_attributes().into_iter().next(),
        Role::Main => None,
    };
    let sig = &mut function.sig;
    let asyncness = sig.asyncness.replace(Default::default());
    if let Some(second) = second {
        let message = "second test attribute is supplied, \
                       consider removing or changing the order of your test attributes";
        return Err(syn::Error::new_spanned(second, message));
    }
    if role == Role::Main && sig.ident == "main" && !sig.inputs.is_empty() {
        sig.inputs.clear();
        let message = "the main function cannot accept arguments";
        return Err(syn::Error::new_spanned(&sig.ident, message));
    }
    if asyncness.is_none() {
        let message = "the `async` keyword is missing from the function declaration";
        return Err(syn::Error::new_spanned(sig.fn_token, message));
    }
    Ok(())
}

/// An async function without parameters: an inner item, so that the compiler's errors and an editor
/// see it as it was written.
fn on_tokio(role: Role, function: &Function, settings: &Settings) -> TokenStream {
    let root = root(settings, "tokio");
    let (sig, block) = (&function.sig, function.block());
    let call = call(function, &quote!(#root::__detsim), role.entry(), settings, &sig.ident);
    outer(role, function, quote!(#sig #block #call))
}

/// A scenario: an inner item, called with the simulation.
fn on_kernel(role: Role, function: &Function, settings: &Settings) -> TokenStream {
    let root = root(settings, "detsim");
    let (sig, block) = (&function.sig, function.block());
    let entry = match role {
        Role::Test => "scenario",
        Role::Main => "main",
    };
    // Of its own name space, for the scenario too may be called `sim`; and placed at the parameter,
    // where another type than `Sim` is then an error.
    let span = Span::mixed_site().located_at(sig.inputs.span());
    let (name, sim) = (&sig.ident, Ident::new("sim", span));
    let run = quote!(|#sim: &mut #root::Sim| #name(#sim));
    let call = call(function, &quote!(#root::__private), entry, settings, run);
    let mut function = function.clone();
    function.sig.inputs.clear();
    outer(role, &function, quote!(#sig #block #call))
}

/// An async function whose body stays where it is, in a block: it may use its parameters, `self`,
/// `Self` and the generics around it, none of which an inner item could name.
fn in_place(role: Role, function: &Function, settings: &Settings) -> TokenStream {
    let root = root(settings, "tokio");
    let (block, typed) = (function.inner_block(), typed(function));
    let run = quote!(move || async move { #typed #block });
    let call = call(function, &quote!(#root::__detsim), role.entry(), settings, run);
    outer(role, function, call)
}

/// Tells the compiler what an async block results in, which it has no syntax for, so that a wrong
/// value is an error at that value. Empty where the type is one that only a signature may name.
fn typed(function: &Function) -> TokenStream {
    let (output, span) = match function.output() {
        None => (quote!(()), Span::call_site()),
        Some(Type::Never(_)) => return TokenStream::new(),
        Some(output) => (output.to_token_stream(), output.span()),
    };
    if names_impl(output.clone()) {
        return TokenStream::new();
    }
    quote_spanned! {Span::call_site().located_at(span)=>
        if false {
            let output: #output = ::core::option::Option::None.unwrap();
            return output;
        }
    }
}

fn names_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => names_impl(group.stream()),
        TokenTree::Ident(ident) => ident == "impl",
        _ => false,
    })
}

/// The function that takes the written one's place, around `body`.
fn outer(role: Role, function: &Function, body: TokenStream) -> TokenStream {
    let Function { attrs, vis, .. } = function;
    let mut sig = function.sig.clone();
    sig.asyncness = None;
    let mut marker = None;
    if role == Role::Test {
        // By its full path: `test` may well be one of ours here. Last, so that the attributes before
        // it are expanded with it in sight.
        marker = Some(quote!(#[::core::prelude::v1::test]));
        sig.output = ReturnType::Default;
    }
    quote!(#(#attrs)* #marker #vis #sig { #body })
}

/// The call that runs `run`. A result of a type that cannot be one is an error at that type.
fn call(
    function: &Function,
    module: &TokenStream,
    entry: &str,
    settings: &Settings,
    run: impl ToTokens,
) -> TokenStream {
    // Where there is nothing to complain about, it is where reports say that the test stands.
    let span = function.output().map_or_else(|| function.sig.ident.span(), Spanned::span);
    let span = Span::call_site().located_at(span);
    let entry = Ident::new(entry, span);
    let spec = spec(function, module, settings);
    quote_spanned!(span=> #module::#entry(#spec, #run))
}

fn spec(function: &Function, module: &TokenStream, settings: &Settings) -> TokenStream {
    let name = &function.sig.ident;
    // As the test harness spells it: with the `r#` of a raw name.
    let text = name.to_string();
    // The line is that of the name, not of the attribute, which may stand many lines above.
    let line = quote_spanned!(name.span()=> ::core::line!());
    let calls = &settings.calls;
    quote! {
        #module::Spec::new(
            ::core::concat!(::core::module_path!(), "::", #text),
            ::core::file!(),
            #line,
        )
        #(#calls)*
    }
}

/// The crate that the expansion calls into.
fn root(settings: &Settings, usual: &str) -> TokenStream {
    match &settings.root {
        Some(root) => root.into_token_stream(),
        None => {
            let usual = Ident::new(usual, Span::call_site());
            quote!(::#usual)
        }
    }
}

#[cfg(test)]
mod tests;
