//! The programs that tests compare against or look through: found, or installed where that is
//! allowed.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What the tests of terminals, of system calls, of peers, of disks that lose their power, of
/// other users, of services, of command lines and of the page look for: a program and the package that
/// has it.
const WANTED: &[(&str, &str)] = &[
    ("tmux", "tmux"),
    ("strace", "strace"),
    ("dtach", "dtach"),
    ("mkfs.ext4", "e2fsprogs"),
    ("setpriv", "util-linux"),
    ("systemd-analyze", "systemd"),
    ("bash", "bash"),
    ("dash", "dash"),
    ("zsh", "zsh"),
    ("busybox", "busybox"),
    ("mksh", "mksh"),
    ("openssl", "openssl"),
    (BROWSER, "chromium-headless-shell"),
    ("node", "nodejs"),
];

/// Any browser that the tests can drive will do.
const BROWSER: &str = "chromium";

/// What is missing and stays missing.
pub(crate) struct Missing {
    pub(crate) what: String,
    pub(crate) why: String,
    /// Whether this machine could have had it: then a skip on a build server is a failure.
    pub(crate) installable: bool,
}

/// Installs what is missing, where apt-get and the rights for it exist; returns what is still not
/// there.
pub(crate) fn install() -> Vec<Missing> {
    let absent = absent();
    if absent.is_empty() {
        return Vec::new();
    }
    let why = if find("apt-get").is_none() {
        Some("there is no apt-get here")
    } else if as_root().is_none() {
        Some("installing needs root or a sudo that asks for no password")
    } else {
        None
    };
    if let Some(why) = why {
        return absent.into_iter().map(|(what, _)| missing(what, why)).collect();
    }
    let packages: Vec<&str> = absent.iter().map(|(_, package)| *package).collect();
    println!("installing: {}", packages.join(" "));
    // Package lists may be missing or old, and fetching them takes long: only after a first
    // failure.
    if !(apt_get(&["install", "-y", "--no-install-recommends"], &packages)
        || apt_get(&["update"], &[])
            && apt_get(&["install", "-y", "--no-install-recommends"], &packages))
    {
        eprintln!("apt-get could not install all of: {}", packages.join(" "));
    }
    self::absent()
        .into_iter()
        .map(|(what, _)| Missing {
            installable: true,
            ..missing(what, "apt-get did not install it")
        })
        .collect()
}

/// Where `program` lies on the path.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn absent() -> Vec<(&'static str, &'static str)> {
    WANTED.iter().copied().filter(|(tool, _)| !is_here(tool)).collect()
}

fn is_here(tool: &str) -> bool {
    find(tool).is_some() || tool == BROWSER && glis_stub_model::browser::program().is_some()
}

fn missing(what: &str, why: &str) -> Missing {
    let what = format!("tests that need {what}");
    Missing { what, why: why.to_owned(), installable: false }
}

/// The words before a command that needs root: none as root, `sudo` where it asks nothing.
fn as_root() -> Option<&'static [&'static str]> {
    if rustix::process::geteuid().is_root() {
        return Some(&[]);
    }
    let mut ask = Command::new("sudo");
    ask.args(["-n", "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ask.status().is_ok_and(|status| status.success()).then_some(&["sudo", "-n"])
}

fn apt_get(verb: &[&str], packages: &[&str]) -> bool {
    let Some(prefix) = as_root() else { return false };
    let words =
        [prefix, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"], verb, packages].concat();
    let Some((program, arguments)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
