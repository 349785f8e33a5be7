//! Only here because a `links` key wants a build script: two kernels in one graph are an error.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
