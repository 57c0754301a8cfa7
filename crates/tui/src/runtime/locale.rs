//! Which letters the user's terminal takes, as the locale says.

use crate::message::Told;

/// Refuses a terminal that takes other letters than UTF-8: marks, frames and half of the texts would be garbled. A
/// locale that names no charset says nothing about it.
pub(super) fn check(variable: impl Fn(&str) -> Option<String>) -> Result<(), Told> {
    let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default();
    let named = locale.split_once('.').map_or("", |(_, named)| named);
    let charset = named.split_once('@').map_or(named, |(charset, _)| charset);
    if charset.is_empty() || charset.replace('-', "").eq_ignore_ascii_case("utf8") {
        return Ok(());
    }
    Err(Told {
        message: format!("the terminal has to take UTF-8, and the locale says {charset}"),
        hint: Some("`LC_ALL=C.UTF-8 glis`, if it does; `glis --plain` prints lines".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_names_the_charset() {
        let checked = |all: &[(&str, &str)]| {
            let all: Vec<_> = all.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            check(|name| all.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone()))
        };
        for locale in ["", "C", "POSIX", "de_DE", "C.UTF-8", "en_US.utf8", "de_DE.UTF-8@euro"] {
            assert_eq!(checked(&[("LANG", locale)]), Ok(()), "{locale}");
        }
        assert_eq!(checked(&[]), Ok(()));
        let told = checked(&[("LC_ALL", ""), ("LANG", "de_DE.ISO-8859-15@euro")]).unwrap_err();
        assert_eq!(told.message, "the terminal has to take UTF-8, and the locale says ISO-8859-15");
        assert_eq!(checked(&[("LC_ALL", "C.UTF-8"), ("LANG", "de_DE.ISO-8859-1")]), Ok(()));
    }
}
