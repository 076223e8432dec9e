use std::ffi::c_char;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

unsafe extern "C" {
    fn stop(label: *const c_char);
}

#[derive(Clone, Copy)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

pub struct Meters(pub f64);

pub enum Shape {
    Empty,
    Circle { radius: u32 },
    Line(Point, Point),
}

#[derive(Clone, Copy)]
pub enum Color {
    Red = 1,
    Green = 7,
}

static COUNTER: AtomicU64 = AtomicU64::new(77);

#[inline(never)]
fn work(number: i32, text: &str, list: &[u16], shape: &Shape) -> usize {
    let owned = String::from("owned \u{e9}");
    let points = vec![Point { x: 1, y: 2 }, Point { x: 3, y: 4 }];
    let some = Some(number);
    let none: Option<i32> = None;
    let reference = Some(&points[1]);
    let nothing: Option<&Point> = None;
    let result: Result<u8, String> = Err("bad".to_owned());
    let line = Shape::Line(points[0], points[1]);
    let empty = Shape::Empty;
    let color = Color::Green;
    let tuple = (1u8, 'z', true);
    let array = [1.5f32, 2.5];
    let boxed = Box::new(Point { x: 5, y: 6 });
    let counted = Arc::new(8u64);
    let atomic = AtomicU64::new(9);
    let locked = Mutex::new(Point { x: 10, y: 11 });
    let meters = Meters(2.5);
    let huge = u128::MAX - 1;
    unsafe { stop(c"work".as_ptr()) };
    drop((result, line, empty, tuple, boxed, counted, atomic, locked, meters));
    owned.len() + text.len() + list.len() + array.len() + (huge as usize & 1) + color as usize
        + some.unwrap_or(0).unsigned_abs() as usize + none.unwrap_or(0) as usize
        + reference.map_or(0, |p| p.x) as usize + nothing.map_or(0, |p| p.x) as usize
        + match shape { Shape::Circle { radius } => *radius as usize, _ => 0 }
}

fn main() {
    COUNTER.fetch_add(0, std::sync::atomic::Ordering::SeqCst);
    let size = work(-42, "borrowed", &[1, 2, 3], &Shape::Circle { radius: 12 });
    assert!(size > 0);
    assert!(Color::Red as u8 == 1);
}
