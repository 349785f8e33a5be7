//! The arguments of `#[tokio::test]` and `#[tokio::main]`, as tokio 1.54 reads them.
//!
//! Code that tokio accepts is accepted here, and code that it refuses is refused in its own words, so
//! that the message is one that can be looked up. As there, the first error is the only one.

use proc_macro2::{Literal, Span, TokenStream};
use quote::ToTokens;
use syn::{Error, Lit, LitStr, Meta, MetaNameValue, Path};

use super::{Settings, literal, split};
use crate::Role;

/// What may be given, in the order in which tokio lists it.
const NAMES: &[&str] =
    &["flavor", "worker_threads", "start_paused", "crate", "unhandled_panic", "name"];

/// Reads the arguments of a `role`.
///
/// # Errors
///
/// The first thing that tokio would refuse.
pub(crate) fn read(role: Role, args: TokenStream) -> syn::Result<Settings> {
    let mut given = Given::default();
    for meta in split(args)? {
        match meta {
            Meta::NameValue(pair) => given.set(&pair)?,
            Meta::Path(path) => return Err(without_value(role, &path)),
            other => return Err(Error::new_spanned(other, "Unknown attribute inside the macro")),
        }
    }
    given.check_flavor(role)?;
    Ok(given.settings)
}

/// The arguments read so far.
#[derive(Default)]
struct Given {
    settings: Settings,
    flavor: Option<Flavor>,
    /// The name of each argument, and where its value stands.
    seen: Vec<(&'static str, Span)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavor {
    /// `current_thread` and `local`, which every check treats alike.
    OneThread,
    MultiThread,
}

impl Given {
    fn set(&mut self, pair: &MetaNameValue) -> syn::Result<()> {
        let typed = name(&pair.path, pair)?;
        let value = Value::of(pair)?;
        if typed == "core_threads" {
            let message = "Attribute `core_threads` is renamed to `worker_threads`";
            return Err(Error::new_spanned(pair, message));
        }
        let Some(name) = NAMES.iter().copied().find(|name| *name == typed) else {
            return Err(Error::new_spanned(pair, unknown(&typed)));
        };
        if self.seen.iter().any(|(seen, _)| *seen == name) {
            return Err(value.error(format!("`{name}` set multiple times.")));
        }
        self.seen.push((name, value.span()));
        self.read(name, &value)
    }

    fn read(&mut self, name: &'static str, value: &Value<'_>) -> syn::Result<()> {
        match name {
            "flavor" => {
                self.flavor = Some(value.flavor()?);
                self.settings.call(name, value.0);
            }
            "worker_threads" => self.settings.call(name, value.threads()?),
            "start_paused" => self.settings.call(name, value.flag()?),
            "crate" => self.settings.root = Some(value.path()?),
            "unhandled_panic" => self.settings.call(name, value.unhandled_panic()?),
            // A spec has a name of its own, the test's; this one is the runtime's.
            _ => self.settings.call("runtime_name", value.string("name")?),
        }
        Ok(())
    }

    /// Refuses what the flavor in force does not have.
    fn check_flavor(&self, role: Role) -> syn::Result<()> {
        let default = match role {
            Role::Test => Flavor::OneThread,
            Role::Main => Flavor::MultiThread,
        };
        let (absent, needed) = match self.flavor.unwrap_or(default) {
            Flavor::OneThread => (&["worker_threads"][..], "multi_thread"),
            Flavor::MultiThread => (&["start_paused", "unhandled_panic"][..], "current_thread"),
        };
        for option in absent {
            let Some((_, span)) = self.seen.iter().find(|(name, _)| name == option) else {
                continue;
            };
            let message = format!(
                "The `{option}` option requires the `{needed}` runtime flavor. \
                 Use `#[tokio::{role}(flavor = \"{needed}\")]`"
            );
            return Err(Error::new(*span, message));
        }
        Ok(())
    }
}

/// The literal on the right of an argument.
struct Value<'a>(&'a Lit);

impl<'a> Value<'a> {
    fn of(pair: &'a MetaNameValue) -> syn::Result<Self> {
        let not_literal = || Error::new_spanned(&pair.value, "Must be a literal");
        literal(&pair.value).map(Self).ok_or_else(not_literal)
    }

    fn flavor(&self) -> syn::Result<Flavor> {
        let flavor = self.string("flavor")?.value();
        let message = match flavor.as_str() {
            "current_thread" | "local" => return Ok(Flavor::OneThread),
            "multi_thread" => return Ok(Flavor::MultiThread),
            "single_thread" => {
                "The single threaded runtime flavor is called `current_thread`.".to_owned()
            }
            "basic_scheduler" => renamed(&flavor, "current_thread"),
            "threaded_scheduler" => renamed(&flavor, "multi_thread"),
            _ => format!(
                "No such runtime flavor `{flavor}`. \
                 The runtime flavors are `current_thread`, `local`, and `multi_thread`."
            ),
        };
        Err(self.error(message))
    }

    fn unhandled_panic(&self) -> syn::Result<&LitStr> {
        let behavior = self.string("unhandled_panic")?;
        if matches!(behavior.value().as_str(), "ignore" | "shutdown_runtime") {
            return Ok(behavior);
        }
        Err(self.error(format!(
            "No such unhandled panic behavior `{}`. \
             The unhandled panic behaviors are `ignore` and `shutdown_runtime`.",
            behavior.value()
        )))
    }

    fn threads(&self) -> syn::Result<Literal> {
        let Lit::Int(number) = self.0 else {
            return Err(self.error("Failed to parse value of `worker_threads` as integer."));
        };
        let threads = number.base10_parse::<usize>().map_err(|error| {
            self.error(format!("Failed to parse value of `worker_threads` as integer: {error}"))
        })?;
        if threads == 0 {
            return Err(self.error("`worker_threads` may not be 0."));
        }
        Ok(Literal::usize_unsuffixed(threads))
    }

    fn flag(&self) -> syn::Result<&'a Lit> {
        match self.0 {
            Lit::Bool(_) => Ok(self.0),
            _ => Err(self.error("Failed to parse value of `start_paused` as bool.")),
        }
    }

    fn path(&self) -> syn::Result<Path> {
        let Lit::Str(path) = self.0 else {
            return Err(self.error("Failed to parse value of `crate` as path."));
        };
        let message = || format!("Failed to parse value of `crate` as path: \"{}\"", path.value());
        path.parse().map_err(|_| self.error(message()))
    }

    fn string(&self, name: &str) -> syn::Result<&'a LitStr> {
        match self.0 {
            Lit::Str(string) => Ok(string),
            _ => Err(self.error(format!("Failed to parse value of `{name}` as string."))),
        }
    }

    fn span(&self) -> Span {
        self.0.span()
    }

    fn error(&self, message: impl std::fmt::Display) -> Error {
        Error::new(self.span(), message)
    }
}

/// What is wrong with an argument that is only a name.
fn without_value(role: Role, path: &Path) -> Error {
    let name = match name(path, path) {
        Ok(name) => name,
        Err(error) => return error,
    };
    let set =
        |flavor| format!("Set the runtime flavor with #[tokio::{role}(flavor = \"{flavor}\")].");
    let message = match name.as_str() {
        "threaded_scheduler" | "multi_thread" => set("multi_thread"),
        "basic_scheduler" | "current_thread" | "single_threaded" => set("current_thread"),
        known if NAMES.contains(&known) => format!("The `{known}` attribute requires an argument."),
        other => unknown(other),
    };
    Error::new_spanned(path, message)
}

/// The name that `path` is; tokio minds neither its case nor, in an error, where it ends.
fn name(path: &Path, whole: impl ToTokens) -> syn::Result<String> {
    let name = path.get_ident().map(|name| name.to_string().to_lowercase());
    name.ok_or_else(|| Error::new_spanned(whole, "Must have specified ident"))
}

fn unknown(name: &str) -> String {
    let names = NAMES.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    format!("Unknown attribute {name} is specified; expected one of: {names}.")
}

fn renamed(old: &str, new: &str) -> String {
    format!("The `{old}` runtime flavor has been renamed to `{new}`.")
}
