//! A group whose processes the kernel holds: not even SIGKILL ends one that is frozen there, until it
//! is thawed.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A frozen group; thawed and removed at the end.
pub(crate) struct Freezer(PathBuf);

impl Freezer {
    /// None where the system has no such thing, or does not let us.
    pub(crate) fn new() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("glis-test-{}-{number}", std::process::id());
        let place = Path::new("/sys/fs/cgroup/freezer").join(name);
        fs::create_dir(&place).ok()?;
        Some(Self(place))
    }

    /// Freezes a process.
    pub(crate) fn freeze(&self, pid: i32) -> Result<(), Box<dyn Error>> {
        fs::write(self.0.join("cgroup.procs"), pid.to_string())?;
        fs::write(self.0.join("freezer.state"), "FROZEN")?;
        self.until("FROZEN")
    }

    /// Lets everybody go on.
    pub(crate) fn thaw(&self) -> Result<(), Box<dyn Error>> {
        fs::write(self.0.join("freezer.state"), "THAWED")?;
        self.until("THAWED")
    }

    fn until(&self, state: &str) -> Result<(), Box<dyn Error>> {
        let patience = Instant::now() + Duration::from_secs(30);
        while fs::read_to_string(self.0.join("freezer.state"))?.trim() != state {
            if Instant::now() > patience {
                return Err(format!("the group is not {state}").into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        drop(self.thaw());
        // Whoever was to die in there does so now; then the group can go.
        let patience = Instant::now() + Duration::from_secs(10);
        while fs::remove_dir(&self.0).is_err() && Instant::now() < patience {
            let left = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
            for pid in left.lines() {
                drop(fs::write("/sys/fs/cgroup/freezer/cgroup.procs", pid));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
