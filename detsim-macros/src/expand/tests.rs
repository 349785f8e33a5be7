//! Every form of expansion, in full.

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;

use super::{detsim, tokio};
use crate::Role;

type Attribute = fn(Role, TokenStream, TokenStream) -> TokenStream;

/// Expands `attribute` on `item` and compares the result, laid out as source.
#[track_caller]
fn check(attribute: Attribute, role: Role, args: &str, item: &str, expected: Expect) {
    let tokens = |text: &str| text.parse().expect("a test's input is tokens");
    let expansion = attribute(role, tokens(args), tokens(item));
    let file = syn::parse2(expansion).expect("an expansion is items");
    expected.assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn detsim_test_on_an_async_fn() {
    check(
        detsim,
        Role::Test,
        r#"seeds = 5000, strategy = "random""#,
        "/// Drains.
         #[should_panic] pub(crate) async fn drains() -> Result<(), E> { #![ignore] work().await }",
        expect![[r#"
            /// Drains.
            #[should_panic]
            #[ignore]
            #[::core::prelude::v1::test]
            pub(crate) fn drains() {
                async fn drains() -> Result<(), E> {
                    work().await
                }
                ::tokio::__detsim::test(
                    ::tokio::__detsim::Spec::new(
                            ::core::concat!(::core::module_path!(), "::", "drains"),
                            ::core::file!(),
                            ::core::line!(),
                        )
                        .seeds(5000)
                        .strategy("random"),
                    drains,
                )
            }
        "#]],
    );
}

#[test]
fn detsim_test_on_a_scenario() {
    check(
        detsim,
        Role::Test,
        r#"max_steps = 10, crate = "crate::fake""#,
        "fn elects(sim: &mut Sim) { sim.run() }",
        expect![[r##"
            #[::core::prelude::v1::test]
            fn elects() {
                fn elects(sim: &mut Sim) {
                    sim.run()
                }
                crate::fake::__private::scenario(
                    crate::fake::__private::Spec::new(
                            ::core::concat!(::core::module_path!(), "::", "elects"),
                            ::core::file!(),
                            ::core::line!(),
                        )
                        .max_steps(10),
                    |sim: &mut crate::fake::Sim| elects(sim),
                )
            }
        "##]],
    );
}

#[test]
fn detsim_main_on_an_async_fn() {
    check(
        detsim,
        Role::Main,
        "seed = 3",
        "async fn main() -> io::Result<()> { serve().await }",
        expect![[r#"
            fn main() -> io::Result<()> {
                async fn main() -> io::Result<()> {
                    serve().await
                }
                ::tokio::__detsim::main(
                    ::tokio::__detsim::Spec::new(
                            ::core::concat!(::core::module_path!(), "::", "main"),
                            ::core::file!(),
                            ::core::line!(),
                        )
                        .seed(3),
                    main,
                )
            }
        "#]],
    );
}

#[test]
fn detsim_main_on_a_scenario() {
    check(
        detsim,
        Role::Main,
        "",
        "fn main(world: &mut Sim) -> Result<(), Failure> { world.run() }",
        expect![[r#"
            fn main() -> Result<(), Failure> {
                fn main(world: &mut Sim) -> Result<(), Failure> {
                    world.run()
                }
                ::detsim::__private::main(
                    ::detsim::__private::Spec::new(
                        ::core::concat!(::core::module_path!(), "::", "main"),
                        ::core::file!(),
                        ::core::line!(),
                    ),
                    |sim: &mut ::detsim::Sim| main(sim),
                )
            }
        "#]],
    );
}

#[test]
fn tokio_test() {
    check(
        tokio,
        Role::Test,
        "start_paused = true",
        "#[ignore] async fn waits() -> Result<(), Elapsed> { wait().await }",
        expect![[r##"
            #[ignore]
            #[::core::prelude::v1::test]
            fn waits() {
                async fn waits() -> Result<(), Elapsed> {
                    wait().await
                }
                ::tokio::__detsim::test(
                    ::tokio::__detsim::Spec::new(
                            ::core::concat!(::core::module_path!(), "::", "waits"),
                            ::core::file!(),
                            ::core::line!(),
                        )
                        .tokio_test()
                        .start_paused(true),
                    waits,
                )
            }
        "##]],
    );
}

#[test]
fn tokio_main() {
    check(
        tokio,
        Role::Main,
        "worker_threads = 2",
        "async fn main() { serve().await }",
        expect![[r#"
            fn main() {
                ::tokio::__detsim::main(
                    ::tokio::__detsim::Spec::new(
                            ::core::concat!(::core::module_path!(), "::", "main"),
                            ::core::file!(),
                            ::core::line!(),
                        )
                        .worker_threads(2),
                    move || async move {
                        if false {
                            let output: () = ::core::option::Option::None.unwrap();
                            return output;
                        }
                        { serve().await }
                    },
                )
            }
        "#]],
    );
}

#[test]
fn tokio_main_on_a_method() {
    check(
        tokio,
        Role::Main,
        r#"crate = "sim""#,
        "pub async fn ask<T>(&self, key: T) -> Option<&T> { self.get(key).await }",
        expect![[r#"
            pub fn ask<T>(&self, key: T) -> Option<&T> {
                sim::__detsim::main(
                    sim::__detsim::Spec::new(
                        ::core::concat!(::core::module_path!(), "::", "ask"),
                        ::core::file!(),
                        ::core::line!(),
                    ),
                    move || async move {
                        if false {
                            let output: Option<&T> = ::core::option::Option::None.unwrap();
                            return output;
                        }
                        { self.get(key).await }
                    },
                )
            }
        "#]],
    );
}

#[test]
fn a_result_that_no_block_can_name_is_inferred() {
    for output in ["!", "impl Iterator<Item = u8>", "Box<[impl Send]>"] {
        let item = format!("async fn f() -> {output} {{ g() }}").parse().expect("tokens");
        let expansion = tokio(Role::Main, TokenStream::new(), item).to_string();
        assert!(!expansion.contains("if false"), "{output}: {expansion}");
    }
}

#[test]
fn an_item_that_is_no_function_is_kept() {
    check(
        detsim,
        Role::Test,
        "",
        "struct Cluster;",
        expect![[r#"
            struct Cluster;
            ::core::compile_error! {
                "expected `fn`"
            }
        "#]],
    );
    check(
        tokio,
        Role::Main,
        "",
        "struct Cluster;",
        expect![[r#"
            struct Cluster;
            ::core::compile_error! {
                "expected `fn`"
            }
        "#]],
    );
}

#[test]
fn a_function_that_cannot_run_is_kept_without_its_second_test() {
    check(
        detsim,
        Role::Test,
        "",
        "#[test] fn f<T>(x: T) { g(x) }",
        expect![[r#"
            fn f<T>(x: T) {
                g(x)
            }
            ::core::compile_error! {
                "`#[detsim::test]` makes this a test already: remove this attribute"
            }
            ::core::compile_error! {
                "a detsim test cannot be generic: nothing would choose its parameters"
            }
            ::core::compile_error! {
                "the parameter of a detsim test is `sim: &mut Sim`"
            }
        "#]],
    );
}

#[test]
fn a_wrong_argument_leaves_the_expansion_whole() {
    check(
        detsim,
        Role::Test,
        "seeds = 0",
        "async fn f() {}",
        expect![[r##"
            #[::core::prelude::v1::test]
            fn f() {
                async fn f() {}
                ::tokio::__detsim::test(
                    ::tokio::__detsim::Spec::new(
                        ::core::concat!(::core::module_path!(), "::", "f"),
                        ::core::file!(),
                        ::core::line!(),
                    ),
                    f,
                )
            }
            ::core::compile_error! {
                "`seeds` takes an integer of at least 1, as in `seeds = 5000`"
            }
        "##]],
    );
    check(
        tokio,
        Role::Main,
        "seeds = 1",
        "async fn f() {}",
        expect![[r#"
            fn f() {
                ::tokio::__detsim::main(
                    ::tokio::__detsim::Spec::new(
                        ::core::concat!(::core::module_path!(), "::", "f"),
                        ::core::file!(),
                        ::core::line!(),
                    ),
                    move || async move {
                        if false {
                            let output: () = ::core::option::Option::None.unwrap();
                            return output;
                        }
                        {}
                    },
                )
            }
            ::core::compile_error! {
                "Unknown attribute seeds is specified; expected one of: `flavor`, `worker_threads`, `start_paused`, `crate`, `unhandled_panic`, `name`."
            }
        "#]],
    );
}
