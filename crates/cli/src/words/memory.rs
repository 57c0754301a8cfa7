//! Amounts of memory.

/// An amount as a person would say it.
pub(super) fn amount(bytes: u64) -> String {
    const MEGABYTE: u64 = 1024 * 1024;
    match bytes.div_ceil(MEGABYTE) {
        megabytes @ 0..1024 => format!("{megabytes} MB"),
        megabytes => format!("{}.{} GB", megabytes / 1024, megabytes % 1024 * 10 / 1024),
    }
}

/// What `ls` says of sessions that were suspended.
pub(crate) fn given_back(bytes: u64) -> Option<String> {
    (bytes > 0).then(|| format!("{} given back by suspended sessions", amount(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_the_unit_that_it_is_told_in() {
        let told = [1, 1 << 20, 300 << 20, 1023 << 20, 1 << 30, (5 << 30) / 2].map(amount);
        assert_eq!(told, ["1 MB", "1 MB", "300 MB", "1023 MB", "1.0 GB", "2.5 GB"]);
        assert_eq!(given_back(0), None);
    }
}
