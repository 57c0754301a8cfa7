//! The clock on the wall as a house's daemon sees it, which a test can set.

use super::house::{House, Outcome};
use std::path::PathBuf;

/// How wrong the clock is, in a file.
pub(crate) struct WallClock(PathBuf);

impl WallClock {
    /// Gives a house whose time can be moved a clock that is right, before its daemon starts.
    pub(crate) fn of(house: &mut House) -> Outcome<Self> {
        let clock = Self(house.folder().join("clock"));
        std::fs::write(&clock.0, "0")?;
        house.surround("GLIS_CLOCK", clock.0.to_string_lossy());
        Ok(clock)
    }

    /// Sets it so many seconds ahead of the right time; timers notice at once.
    pub(crate) fn ahead(&self, house: &House, secs: u64) -> Outcome {
        let fresh = self.0.with_extension("fresh");
        std::fs::write(&fresh, secs.to_string())?;
        std::fs::rename(fresh, &self.0)?;
        house.pass_minutes(1);
        Ok(())
    }
}
