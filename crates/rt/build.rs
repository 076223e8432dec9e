//! Link arguments of the runtime.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libthreadbare_rt.so");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,now");
    println!("cargo:rustc-cdylib-link-arg=-nostartfiles");
    // What the compiler calls in our own code (`memcpy`) is ours, even if the program defines one too.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
}
