//! Compiles the C side.

fn main() {
    println!("cargo::rerun-if-changed=src/mailbox.c");
    cc::Build::new().file("src/mailbox.c").compile("mailbox");
}
