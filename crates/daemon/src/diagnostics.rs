//! The daemon's own log, `daemon.log`: what it tells about itself, by level, in lines of bounded files. What a person
//! says to an agent, and the values of variables, are told at no level of `info` and above.

use crate::panics::held;
use glis_config::LogLevel;
use glis_core::redact::redact;
use glis_wire::home::DAEMON_LOG;
use rustix::fs::{Mode, OFlags};
use std::fmt;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::reload;

/// A file of this size is moved aside; the one that was there before goes. Weeks of a busy house.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What changes the level of the process. None, where nothing was begun, as in a test.
static LEVEL: OnceLock<Box<dyn Fn(LevelFilter) + Send + Sync>> = OnceLock::new();

/// Begins to write what is told, for the whole process.
pub(crate) fn begin(state: &Path) {
    let log = DaemonLog { path: state.join(DAEMON_LOG), written: Arc::default() };
    let lines = tracing_subscriber::fmt::layer().with_target(false).with_timer(Stamp);
    let (filter, handle) = reload::Layer::new(LevelFilter::INFO);
    let subscriber = tracing_subscriber::registry().with(filter).with(lines.with_writer(log));
    drop(tracing::subscriber::set_global_default(subscriber));
    // It is gone only with the process.
    LEVEL.get_or_init(|| Box::new(move |level| drop(handle.modify(|filter| *filter = level))));
}

/// Tells from this level on.
pub(crate) fn set_level(level: LogLevel) {
    if let Some(set) = LEVEL.get() {
        set(filter_of(level));
    }
}

fn filter_of(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}

struct Stamp;

impl FormatTime for Stamp {
    fn format_time(&self, w: &mut Writer<'_>) -> fmt::Result {
        write!(w, "{}", crate::clock::stamp())
    }
}

/// Standard error: a file, where a command has started the daemon, or whatever a service manager gave.
#[derive(Clone)]
struct DaemonLog {
    path: PathBuf,
    /// Since the size of the file was looked at.
    written: Arc<Mutex<u64>>,
}

impl<'a> MakeWriter<'a> for DaemonLog {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for DaemonLog {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // What git, an agent or a file said may be in it, and with it a secret.
        let text = String::from_utf8_lossy(line);
        let text = redact(&text);
        let mut written = held(&self.written);
        if *written == 0 || *written > BYTES_MAX / 8 {
            // A folder that takes no file keeps the one that is there.
            drop(self.rotate());
            *written = 0;
        }
        *written += text.len() as u64;
        // A disk that is full is told of elsewhere; for want of a line nothing ends.
        drop(io::stderr().write_all(text.as_bytes()));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl DaemonLog {
    /// Moves a file aside that is large, if it is what standard error leads to.
    fn rotate(&self) -> io::Result<()> {
        let (own, told) = (std::fs::metadata(&self.path)?, rustix::fs::fstat(io::stderr())?);
        if (own.dev(), own.ino()) != (told.st_dev, told.st_ino) || own.len() < BYTES_MAX {
            return Ok(());
        }
        std::fs::rename(&self.path, self.path.with_extension("log.1"))?;
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
        let file = rustix::fs::open(&self.path, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(rustix::stdio::dup2_stderr(file)?)
    }
}
