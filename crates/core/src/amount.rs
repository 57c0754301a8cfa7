//! Amounts as people write them: of time, of money.

/// Ten years: whoever means longer means no bound, and no clock overflows by it.
const SECS_MAX: u64 = 10 * 366 * 24 * 3600;

/// A number from 1 on with its unit: 90s, 30m, 2h. A bare number is seconds.
pub fn seconds(told: &str) -> Option<u64> {
    let digits = told.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match told.strip_prefix(digits)? {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    let secs = digits.trim_end().parse::<u64>().ok()?.checked_mul(unit)?;
    Some(secs).filter(|secs| (1..=SECS_MAX).contains(secs))
}

/// A number from 1 on, also in thousands or millions: 1500, 200k, 2M.
pub fn count(told: &str) -> Option<u64> {
    let (digits, unit) = match told.strip_suffix('k').zip(Some(1000)) {
        Some(thousands) => thousands,
        None => told.strip_suffix('M').map_or((told, 1), |digits| (digits, 1_000_000)),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|number| *number > 0)
}

/// An amount such as 5, 2.50 or $2.50, in millionths of a dollar; never nothing.
pub fn dollars(told: &str) -> Option<u64> {
    let told = told.trim_start_matches('$');
    let (whole, part) = told.split_once('.').unwrap_or((told, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let millionths = format!("{part:0<6}").parse::<u64>().ok()?;
    let amount = whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(millionths)?;
    Some(amount).filter(|amount| *amount > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_or_are_seconds() {
        let read =
            ["90s", "30m", "2h", "7", "0m", "m", "-1s", "1.5h", "5 m", "99999h"].map(seconds);
        let right = [Some(90), Some(1800), Some(7200), Some(7), None, None, None, None, Some(300)];
        assert_eq!(read, [&right[..], &[None]].concat()[..]);
    }

    #[test]
    fn what_is_counted_may_be_in_thousands_or_millions() {
        let read = ["1500", "200k", "2M", "0", "0k", "-1", "k", "1.5M", "2G"].map(count);
        let right = [Some(1500), Some(200_000), Some(2_000_000)];
        assert_eq!(read, [&right[..], &[None; 6]].concat()[..]);
    }

    #[test]
    fn money_is_counted_in_millionths() {
        let read = ["5", "$2.50", "0.000001", "0", "-1", "1e3", "1.0000001", ""].map(dollars);
        let right = [Some(5_000_000), Some(2_500_000), Some(1)];
        assert_eq!(read, [&right[..], &[None; 5]].concat()[..]);
    }
}
