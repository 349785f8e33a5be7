//! The arguments of `#[detsim::test]` and `#[detsim::main]`.
//!
//! An argument is an entry of a table: its name, the kind of value it takes, and where it applies.
//! Reading, checking and suggesting follow from the entry. All that is wrong is reported, and what is
//! right is kept, so that a wrong argument costs the rest of the file nothing.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, Lit, LitInt, LitStr, Meta};

use super::nearest::nearest;
use super::{Settings, literal, split};
use crate::Role;
use crate::errors::Errors;
use crate::function::Shape;

/// The names that `strategy` knows: the schedulers that a sweep can be asked for.
const STRATEGIES: &[&str] = &["random", "fifo"];

const PREEMPTIONS: &[&str] = &["ops", "await"];
const LEAKS: &[&str] = &["fail", "ignore"];
/// What a loss of power may leave; and the walk through all of that.
const CRASHES: &[&str] =
    &["prefix", "ext4_ordered", "metadata_log", "posix", "no_barrier", "exhaustive"];
const PROFILES: &[&str] = CRASHES.split_at(CRASHES.len() - 1).0;
const FLAVORS: &[&str] = &["current_thread", "multi_thread"];

const SEED: Argument = Argument::new("seed", Kind::Number, "847291");
const SEEDS: Argument = Argument::new("seeds", Kind::Count, "5000");
const STRATEGY: Argument = Argument::new("strategy", Kind::OneOf(STRATEGIES), "\"random\"");
const MAX_STEPS: Argument = Argument::new("max_steps", Kind::Count, "100000");
const PREEMPT: Argument = Argument::new("preempt", Kind::OneOf(PREEMPTIONS), "\"ops\"");
const START_PAUSED: Argument = Argument::new("start_paused", Kind::Flag, "true").async_only();
const FLAVOR: Argument =
    Argument::new("flavor", Kind::OneOf(FLAVORS), "\"current_thread\"").async_only();
const LEAKED: Argument = Argument::new("leaks", Kind::OneOf(LEAKS), "\"fail\"");
const CRASH: Argument = Argument::new("crash", Kind::OneOf(CRASHES), "\"ext4_ordered\"");
const PROFILE: Argument = Argument::new("crash", Kind::OneOf(PROFILES), "\"ext4_ordered\"");
const MINIMIZE: Argument = Argument::new("minimize", Kind::Switch, "true");
const CRATE: Argument = Argument::new("crate", Kind::Root, "\"path::to::crate\"");

const TEST: &[Argument] =
    &[SEEDS, STRATEGY, MAX_STEPS, PREEMPT, START_PAUSED, FLAVOR, CRASH, LEAKED, MINIMIZE, CRATE];
const MAIN: &[Argument] =
    &[SEED, STRATEGY, MAX_STEPS, PREEMPT, START_PAUSED, FLAVOR, PROFILE, CRATE];

/// One argument that may be given.
struct Argument {
    name: &'static str,
    kind: Kind,
    /// A value to show where one is missing or wrong.
    example: &'static str,
    /// Whether it speaks of the tokio runtime, which a kernel scenario does not have.
    async_only: bool,
}

/// The values that an argument takes.
enum Kind {
    /// An integer of at least 1.
    Count,
    /// Any integer of 64 bits.
    Number,
    Flag,
    /// A flag whose bare name means `true`.
    Switch,
    OneOf(&'static [&'static str]),
    /// The path of the crate that the expansion calls into.
    Root,
}

/// Reads the arguments of a `role` on a function of `shape` (`None`: the function itself is wrong).
pub(crate) fn read(
    role: Role,
    shape: Option<Shape>,
    args: TokenStream,
    errors: &mut Errors,
) -> Settings {
    let known = match role {
        Role::Test => TEST,
        Role::Main => MAIN,
    };
    let mut settings = Settings::default();
    let mut given = Vec::new();
    for meta in errors.take(split(args)).into_iter().flatten() {
        let Some(argument) = errors.take(find(role, known, &meta)) else { continue };
        if given.contains(&argument.name) {
            errors.at(&meta, format!("`{}` is given twice", argument.name));
            continue;
        }
        given.push(argument.name);
        errors.take(argument.set(shape, &meta, &mut settings));
    }
    errors.take(check_clock(&settings));
    settings
}

fn find<'a>(role: Role, known: &'a [Argument], meta: &Meta) -> syn::Result<&'a Argument> {
    let typed = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
    if let Some(argument) = known.iter().find(|argument| argument.name == typed) {
        return Ok(argument);
    }
    let names = known.iter().map(|argument| argument.name);
    let meant = suggestion(nearest(&typed, names.clone()));
    let (path, names) = (meta.path(), list(names));
    let typed = path.to_token_stream().to_string().replace(' ', "");
    let message = format!("unknown argument `{typed}`{meant}; `#[detsim::{role}]` takes {names}");
    Err(syn::Error::new_spanned(path, message))
}

/// A paused clock is tokio's current-thread runtime's alone; asked of the other it would do nothing.
fn check_clock(settings: &Settings) -> syn::Result<()> {
    let value = |method| settings.calls.iter().find(|call| call.method == method);
    let (Some(paused), Some(flavor)) = (value("start_paused"), value("flavor")) else {
        return Ok(());
    };
    if paused.value.to_string() == "true" && flavor.value.to_string() == "\"multi_thread\"" {
        let message = "`start_paused` needs `flavor = \"current_thread\"`";
        return Err(syn::Error::new_spanned(&paused.value, message));
    }
    Ok(())
}

impl Argument {
    const fn new(name: &'static str, kind: Kind, example: &'static str) -> Self {
        Self { name, kind, example, async_only: false }
    }

    const fn async_only(self) -> Self {
        Self { async_only: true, ..self }
    }

    /// Reads `meta`, which names this argument, into `settings`.
    fn set(&self, shape: Option<Shape>, meta: &Meta, settings: &mut Settings) -> syn::Result<()> {
        let Self { name, example, .. } = self;
        if self.async_only && shape == Some(Shape::Scenario) {
            let reason = "a `fn(sim: &mut Sim)` runs on the kernel, without a tokio runtime";
            return Err(syn::Error::new_spanned(
                meta,
                format!("`{name}` has no meaning here: {reason}"),
            ));
        }
        if let (Kind::Switch, Meta::Path(_)) = (&self.kind, meta) {
            settings.call(name, quote!(true));
            return Ok(());
        }
        let Meta::NameValue(pair) = meta else {
            let message = format!("`{name}` needs a value, such as `{name} = {example}`");
            return Err(syn::Error::new_spanned(meta, message));
        };
        match self.kind {
            Kind::Count => settings.call(name, self.count(&pair.value)?),
            Kind::Number => settings.call(name, self.number(&pair.value)?),
            Kind::Flag | Kind::Switch => settings.call(name, self.flag(&pair.value)?),
            Kind::OneOf(words) => settings.call(name, self.word(words, &pair.value)?),
            Kind::Root => settings.root = Some(self.path(&pair.value)?),
        }
        Ok(())
    }

    fn count(&self, value: &Expr) -> syn::Result<LitInt> {
        let number = self.number(value)?;
        if number.base10_digits() == "0" {
            return Err(self.wrong(value));
        }
        Ok(number)
    }

    fn number(&self, value: &Expr) -> syn::Result<LitInt> {
        match literal(value) {
            Some(Lit::Int(number)) if number.suffix().is_empty() => {
                let too_large = |_| self.error(value, "does not fit in 64 bits");
                number.base10_parse::<u64>().map_err(too_large)?;
                Ok(number.clone())
            }
            _ => Err(self.wrong(value)),
        }
    }

    fn flag(&self, value: &Expr) -> syn::Result<TokenStream> {
        match literal(value) {
            Some(Lit::Bool(flag)) => Ok(quote!(#flag)),
            _ => Err(self.wrong(value)),
        }
    }

    fn word(&self, words: &[&'static str], value: &Expr) -> syn::Result<LitStr> {
        let Some(Lit::Str(word)) = literal(value) else { return Err(self.wrong(value)) };
        if words.contains(&word.value().as_str()) {
            return Ok(word.clone());
        }
        let meant = suggestion(nearest(&word.value(), words.iter().copied()));
        let wrong = format!("cannot be {:?}{meant}; it is one of {}", word.value(), quoted(words));
        Err(self.error(value, &wrong))
    }

    fn path(&self, value: &Expr) -> syn::Result<syn::Path> {
        let Some(Lit::Str(path)) = literal(value) else { return Err(self.wrong(value)) };
        path.parse_with(syn::Path::parse_mod_style).map_err(|_| self.wrong(value))
    }

    /// The error of a `value` that is not of this argument's kind.
    fn wrong(&self, value: &Expr) -> syn::Error {
        let Self { name, example, .. } = self;
        let what = match self.kind {
            Kind::Count => "an integer of at least 1".to_owned(),
            Kind::Number => "an integer".to_owned(),
            Kind::Flag | Kind::Switch => "`true` or `false`".to_owned(),
            Kind::OneOf(words) => format!("one of {}", quoted(words)),
            Kind::Root => "the path of a crate in a string".to_owned(),
        };
        self.error(value, &format!("takes {what}, as in `{name} = {example}`"))
    }

    fn error(&self, value: &Expr, what: &str) -> syn::Error {
        syn::Error::new_spanned(value, format!("`{}` {what}", self.name))
    }
}

fn suggestion(meant: Option<&str>) -> String {
    meant.map(|word| format!(" (did you mean `{word}`?)")).unwrap_or_default()
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
}
