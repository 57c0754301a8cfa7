//! Other keys for the overview, as configured. What they are called, and which of them clash, is known to
//! the face that has them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Keys by what they do, in each place that has its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeysConfig {
    pub list: BTreeMap<String, Written>,
    pub asks: BTreeMap<String, Written>,
    pub inline: BTreeMap<String, Written>,
    pub past: BTreeMap<String, Written>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Written {
    One(String),
    /// Several, or none.
    Several(Vec<String>),
}

impl KeysConfig {
    /// By place, by what they do.
    pub fn by_place(&self) -> BTreeMap<String, BTreeMap<String, Vec<String>>> {
        let places = [
            ("list", &self.list),
            ("asks", &self.asks),
            ("inline", &self.inline),
            ("past", &self.past),
        ];
        let plain = |keys: &BTreeMap<String, Written>| {
            keys.iter().map(|(name, written)| (name.clone(), written.all())).collect()
        };
        places.into_iter().map(|(place, keys)| (place.to_owned(), plain(keys))).collect()
    }
}

impl Written {
    fn all(&self) -> Vec<String> {
        match self {
            Self::One(key) => vec![key.clone()],
            Self::Several(keys) => keys.clone(),
        }
    }
}
