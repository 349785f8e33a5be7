//! The function under an attribute: its parts, and whether it has a shape that detsim can run.
//!
//! The body is kept as the tokens that were written. It is the compiler's to parse, so a body that is
//! half typed in an editor still has its attribute expanded.
//!
//! Invariants: `attrs` holds outer attributes only. Inner ones are lifted out of the body, where they
//! mean the same and may stand before any form of expansion.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::token::Brace;
use syn::{AttrStyle, Attribute, FnArg, Meta, ReturnType, Safety, Signature, Type, Visibility};

use crate::Role;
use crate::errors::Errors;

/// A function item as it was written.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    brace: Brace,
    statements: TokenStream,
}

/// The two shapes of function that detsim runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `async fn name()`: runs on a simulated tokio.
    Async,
    /// `fn name(sim: &mut Sim)`: a scenario written against the kernel.
    Scenario,
}

impl Function {
    /// The body, in the braces it was written in.
    pub(crate) fn block(&self) -> TokenStream {
        in_braces(self.brace, &self.statements)
    }

    /// The body as a block within another, in generated braces: about a block inside a block that
    /// the user wrote, the compiler would warn.
    pub(crate) fn inner_block(&self) -> TokenStream {
        let span = Span::call_site().located_at(self.brace.span.join());
        in_braces(Brace(span), &self.statements)
    }

    /// The declared type of the result, where one is written.
    pub(crate) fn output(&self) -> Option<&Type> {
        match &self.sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, output) => Some(output),
        }
    }

    /// Takes out the attributes that would make this function a test a second time.
    pub(crate) fn take_test_attributes(&mut self) -> Vec<Attribute> {
        let (tests, others) = std::mem::take(&mut self.attrs).into_iter().partition(is_test);
        self.attrs = others;
        tests
    }

    /// Which shape this is; `None` with the reasons in `errors` where it is none that can be run.
    pub(crate) fn shape(&self, role: Role, errors: &mut Errors) -> Option<Shape> {
        let known = errors.len();
        self.reject_qualifiers(role, errors);
        let shape = self.shape_of_inputs(role, errors);
        shape.filter(|_| errors.len() == known)
    }

    fn reject_qualifiers(&self, role: Role, errors: &mut Errors) {
        let Signature { constness, safety, abi, generics, .. } = &self.sig;
        if constness.is_some() {
            errors.at(constness, format!("a detsim {role} cannot be `const`"));
        }
        if !matches!(safety, Safety::Default) {
            errors.at(safety, format!("a detsim {role} cannot be declared safe or unsafe"));
        }
        if abi.is_some() {
            errors.at(abi, format!("a detsim {role} cannot be `extern`"));
        }
        if !generics.params.is_empty() {
            let reason = "nothing would choose its parameters";
            errors.at(generics, format!("a detsim {role} cannot be generic: {reason}"));
        }
        if generics.where_clause.is_some() {
            let message = format!("a detsim {role} cannot have a `where` clause");
            errors.at(&generics.where_clause, message);
        }
    }

    fn shape_of_inputs(&self, role: Role, errors: &mut Errors) -> Option<Shape> {
        let Signature { asyncness, fn_token, ident, inputs, .. } = &self.sig;
        let inputs: Vec<&FnArg> = inputs.iter().collect();
        match (asyncness, &inputs[..]) {
            (_, [FnArg::Receiver(receiver), ..]) => {
                errors.at(receiver, format!("a detsim {role} is a free function, without `self`"));
            }
            (Some(_), []) => return Some(Shape::Async),
            (Some(_), [..]) => {
                let remedy = "remove them, or write a scenario `fn(sim: &mut Sim)` without `async`";
                let message = format!("an async detsim {role} takes no parameters: {remedy}");
                errors.at(&self.sig.inputs, message);
            }
            (None, []) => {
                let message = format!("a detsim {role} is an `async fn` or takes `sim: &mut Sim`");
                errors.at(quote!(#fn_token #ident), message);
            }
            (None, [FnArg::Typed(sim)]) if is_mutable_reference(&sim.ty) => {
                return Some(Shape::Scenario);
            }
            (None, [other]) => {
                let message = format!("the parameter of a detsim {role} is `sim: &mut Sim`");
                errors.at(other, message);
            }
            (None, [_, extra @ ..]) => {
                let message = format!("a detsim {role} takes one parameter, `sim: &mut Sim`");
                errors.at(quote!(#(#extra),*), message);
            }
        }
        None
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut attrs = input.call(Attribute::parse_outer)?;
        let (vis, sig) = (input.parse()?, input.parse()?);
        let content;
        let brace = syn::braced!(content in input);
        let inner = content.call(Attribute::parse_inner)?;
        attrs.extend(inner.into_iter().map(|attr| Attribute { style: AttrStyle::Outer, ..attr }));
        Ok(Self { attrs, vis, sig, brace, statements: content.parse()? })
    }
}

/// As written, but for the inner attributes that moved out.
impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, sig, .. } = self;
        let block = self.block();
        tokens.extend(quote!(#(#attrs)* #vis #sig #block));
    }
}

fn in_braces(brace: Brace, statements: &TokenStream) -> TokenStream {
    let mut block = TokenStream::new();
    brace.surround(&mut block, |inside| inside.extend(statements.clone()));
    block
}

/// Whether `attribute` is the built-in `#[test]`, under its short name or a prelude's.
fn is_test(attribute: &Attribute) -> bool {
    let Meta::Path(path) = &attribute.meta else { return false };
    let names: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    matches!(names[..], ["test"] | ["core" | "std", "prelude", _, "test"])
}

/// Whether `ty` is written `&mut ..`. A macro's `$t:ty` arrives in an invisible group.
fn is_mutable_reference(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_mutable_reference(&group.elem),
        Type::Paren(paren) => is_mutable_reference(&paren.elem),
        Type::Reference(reference) => reference.mutability.is_some(),
        _ => false,
    }
}
