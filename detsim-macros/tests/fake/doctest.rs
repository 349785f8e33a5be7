// What the documentation's examples do not show: the example is crate `tokio` and crate `detsim` at
// once, over the stand-in runtime. Included, so it cannot open with a `//!`.

extern crate self as detsim;
extern crate self as tokio;

#[path = "runtime.rs"]
mod fake;

pub(crate) use fake::{__detsim, __private, Sim};

async fn ask() -> &'static str {
    "reply"
}
