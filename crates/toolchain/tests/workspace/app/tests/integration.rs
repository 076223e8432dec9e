#[test]
fn outside() {
    assert_eq!(app::doubled(3), 6);
}

#[test]
fn runs_the_binary() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_app")).arg("x").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "42 x\n");
}
