//! Links the program at a fixed address on Linux, and tells it which build it is.
//!
//! A holder runs for every session. At a fixed address nothing in it has to be relocated when it
//! starts, and what is not written to stays shared among all of them: about two thirds of a
//! holder's own memory. The price is one layer of address randomisation less.
//!
//! A build is known by its time in UTC, as digits: `20301231235959`. A later one is larger, so that
//! a command knows whether the daemon it meets is older. With `SOURCE_DATE_EPOCH` set the same
//! source makes the same program.

use std::time::{SystemTime, UNIX_EPOCH};

fn main() {
    // Whatever changes the program makes another build of it; where nothing changes, it is the same.
    for path in ["build.rs", "src", "crates", "Cargo.toml", "Cargo.lock"] {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    let told = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.trim().parse().ok());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    println!("cargo:rustc-env=GLIS_BUILD_ID={}", digits(told.unwrap_or(now)));
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}

/// A time in seconds since 1970 as year, month, day, hour, minute and second.
fn digits(seconds: u64) -> u64 {
    let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
    let every = |year: u64, count: u64| year.is_multiple_of(count);
    let leap = |year: u64| every(year, 4) && (!every(year, 100) || every(year, 400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let date = (year * 100 + month) * 100 + days + 1;
    let time = (rest / 3600 * 100 + rest / 60 % 60) * 100 + rest % 60;
    date * 1_000_000 + time
}
