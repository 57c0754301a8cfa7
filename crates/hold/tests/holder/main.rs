//! Real holders with real agents, told and asked over their sockets.
#![expect(clippy::wildcard_enum_match_arm, reason = "a test waits for one report among many")]

mod ending;
#[path = "../../../../tests/e2e/support/freezer.rs"]
mod freezer;
mod life;
mod rig;
#[path = "../../../../tests/e2e/support/skip.rs"]
mod skip;
mod streams;
mod stuck;

/// Turns this test binary into a holder when it is started for that. It happens before the test
/// harness makes threads: a holder is a process with one.
#[used]
#[expect(unsafe_code, reason = "the only way into a process before its harness")]
#[unsafe(link_section = ".init_array")]
static BECOME_HOLDER: extern "C" fn() = become_holder;

extern "C" fn become_holder() {
    if std::env::var_os(rig::BECOME).is_some() {
        glis_hold::run();
        #[expect(clippy::exit, reason = "this process is no test")]
        std::process::exit(0);
    }
}
