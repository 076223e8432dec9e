fn main() {
    // The C of a build dependency runs here, in a program that has no runtime.
    assert_eq!(hostlib::answer(), 42);
    cc::Build::new().file("native/twice.c").compile("twice");
    println!("cargo::rerun-if-changed=native/twice.c");
    println!("cargo::rustc-env=FROM_BUILD_SCRIPT=yes");
}
