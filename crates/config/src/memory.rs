//! What happens when the machine runs short of memory.

use serde::{Deserialize, Serialize};

/// What happens when the machine runs short of memory.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryConfig {
    /// Whether idle sessions are suspended then, the longest idle first.
    pub enabled: bool,
    /// How much of the time processes may wait for memory, where the kernel measures it.
    pub pressure_percent: u32,
    /// Over how many seconds that is measured.
    pub window_secs: u32,
    /// How much memory is to be available, where the kernel does not measure pressure.
    pub available_percent: u32,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self { enabled: true, pressure_percent: 10, window_secs: 10, available_percent: 10 }
    }
}

impl MemoryConfig {
    /// What is wrong with values that are of the right kind, by the key.
    pub(crate) fn unfit(&self) -> impl Iterator<Item = (&'static str, String)> {
        let percent = |key, value: u32| {
            let why = || format!("{key} is a part of a hundred, from 1 to 99");
            (!(1..100).contains(&value)).then(|| (key, why()))
        };
        // The kernel measures no longer than that, and tells everybody only of even windows.
        let windows = [2, 4, 6, 8, 10];
        let window = (!windows.contains(&self.window_secs))
            .then(|| ("memory.window_secs", "memory.window_secs is 2, 4, 6, 8 or 10".to_owned()));
        let pressure = percent("memory.pressure_percent", self.pressure_percent);
        let available = percent("memory.available_percent", self.available_percent);
        [window, pressure, available].into_iter().flatten()
    }
}
