unsafe extern "C" {
    #[link_name = "answer"]
    fn c_answer() -> std::ffi::c_int;
}

pub fn answer() -> i32 {
    unsafe { c_answer() }
}
