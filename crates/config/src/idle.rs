//! How long a session may be idle before it is suspended.

use glis_core::spec::{IDLE_TIMEOUT_SECS, IdleLimit};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::time::Duration;

/// What is set about idle sessions.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct IdleConfig {
    pub enabled: bool,
    #[serde(deserialize_with = "limit", serialize_with = "written")]
    pub timeout: Duration,
    #[serde(deserialize_with = "limit", serialize_with = "written")]
    pub task_timeout: Duration,
}

/// What waits in a plan is come back to by a person who does something else meanwhile.
const TASK_TIMEOUT: Duration = Duration::from_secs(30 * 60);

impl Default for IdleConfig {
    fn default() -> Self {
        let timeout = Duration::from_secs(IDLE_TIMEOUT_SECS);
        Self { enabled: true, timeout, task_timeout: TASK_TIMEOUT }
    }
}

/// Reads a time such as `"10m"`.
fn limit<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let told = String::deserialize(from)?;
    let secs = seconds(&told).ok_or_else(|| {
        de::Error::custom(format!("{told:?} is no time; \"10m\", \"90s\" and \"2h\" are"))
    })?;
    if !IdleLimit::Secs(secs).is_in_range() {
        return Err(de::Error::custom("Timeout must be between 1 and 120 minutes"));
    }
    Ok(Duration::from_secs(secs))
}

/// Writes a time as it is read.
fn written<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    let secs = time.as_secs();
    let text = if secs.is_multiple_of(60) { format!("{}m", secs / 60) } else { format!("{secs}s") };
    to.serialize_str(&text)
}

/// A number and its unit.
pub(crate) fn seconds(told: &str) -> Option<u64> {
    let units = [('s', 1), ('m', 60), ('h', 3600)];
    units.into_iter().find_map(|(unit, secs)| {
        told.strip_suffix(unit)?.trim_end().parse::<u64>().ok()?.checked_mul(secs)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<IdleConfig, String> {
        toml::from_str(text).map_err(|fault| fault.message().to_owned())
    }

    #[test]
    fn ten_minutes_hold_where_nothing_is_said() {
        let usual = read("").unwrap();
        assert_eq!((usual.enabled, usual.timeout), (true, Duration::from_secs(600)));
        assert_eq!(usual.task_timeout, Duration::from_secs(1800));
        assert!(!read("enabled = false").unwrap().enabled);
        let tasks = read("task_timeout = \"2h\"").unwrap();
        assert_eq!((tasks.timeout, tasks.task_timeout.as_secs()), (usual.timeout, 7200));
    }

    #[test]
    fn a_time_has_a_unit_and_bounds() {
        let time =
            |text: &str| read(&format!("timeout = {text}")).map(|idle| idle.timeout.as_secs());
        for (text, secs) in [("\"1m\"", 60), ("\"90s\"", 90), ("\"2h\"", 7200), ("\"120 m\"", 7200)]
        {
            assert_eq!(time(text), Ok(secs));
        }
        for text in ["\"59s\"", "\"121m\"", "\"0m\"", "\"99999999999999999h\""] {
            let fault = time(text).unwrap_err();
            assert!(fault.contains("between 1 and 120") || fault.contains("is no time"), "{fault}");
        }
        assert!(time("\"10\"").unwrap_err().contains("is no time"));
        assert!(time("600").unwrap_err().contains("invalid type"));
    }
}
