//! Secrets in what we write about ourselves: shapes of well-known tokens are taken out of a text that
//! others will read. What an agent prints and what a person sends stay as they are; only the daemon's
//! own log, published events and notifications go through here.
//!
//! A shape is a guess. What is not known here stays in, so nothing may rely on this alone.

use std::borrow::Cow;

/// What stands where a secret was.
const GONE: &str = "[redacted]";

/// Beginnings of tokens that stand at the beginning of a word, how many characters must follow, and
/// whether there must be a digit among them: long words with dashes have none.
const OPENINGS: [(&str, usize, Digit); 16] = [
    ("sk-", 20, Digit::Needed),
    ("sk_live_", 16, Digit::Needed),
    ("sk_test_", 16, Digit::Needed),
    ("rk_live_", 16, Digit::Needed),
    ("gho_", 30, Digit::Free),
    ("ghu_", 30, Digit::Free),
    ("ghs_", 30, Digit::Free),
    ("ghr_", 30, Digit::Free),
    ("xapp-", 16, Digit::Needed),
    ("xoxa-", 10, Digit::Needed),
    ("xoxr-", 10, Digit::Needed),
    ("AKIA", 16, Digit::Free),
    ("ASIA", 16, Digit::Free),
    ("AIza", 30, Digit::Free),
    ("npm_", 30, Digit::Free),
    ("hf_", 30, Digit::Free),
];

/// Beginnings that mean nothing else wherever they stand, also behind the end of an escape sequence.
const MARKS: [(&str, usize); 8] = [
    ("sk-ant-", 16),
    ("sk-proj-", 16),
    ("ghp_", 30),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxs-", 10),
];

/// A Telegram bot's token: its number, a colon, and so many characters.
const BOT_TAIL: usize = 35;
/// What follows `Bearer` may be a word of a sentence if it is shorter.
const BEARER_MIN: usize = 16;
/// Each of the three parts of a signed web token is longer than this.
const JWT_PART_MIN: usize = 10;
/// Name and password in an address are no longer than this.
const LOGIN_MAX: usize = 256;
/// The line that begins a key is no longer than this.
const PEM_LINE_MAX: usize = 64;

/// Whether a token without a digit is none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Digit {
    Needed,
    Free,
}

/// The text without the secrets that are known by their shape. Takes time that grows with the length
/// of the text and no faster.
pub fn redact(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut clean = String::new();
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        let word = run(bytes, at, in_word);
        let Some((secret, next)) = secret(bytes, at, word) else {
            // What is no word is passed a byte at a time; whole characters are cut out below only
            // where a word begins and ends.
            at = word.max(at + 1);
            continue;
        };
        clean.push_str(part(text, from, secret));
        clean.push_str(GONE);
        (from, at) = (next, next);
    }
    if from == 0 && clean.is_empty() {
        return Cow::Borrowed(text);
    }
    clean.push_str(part(text, from, bytes.len()));
    Cow::Owned(clean)
}

/// Cuts only ever lie beside ASCII characters, so this never fails.
fn part(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Where the bytes of a kind end that begin at `from`.
fn run(bytes: &[u8], from: usize, of: impl Fn(u8) -> bool) -> usize {
    bytes.iter().skip(from).position(|byte| !of(*byte)).map_or(bytes.len(), |len| from + len)
}

/// What is to go if a secret is in the word between `at` and `end`, or begins with it: from where,
/// and to where. Looks a bounded number of words ahead.
fn secret(bytes: &[u8], at: usize, end: usize) -> Option<(usize, usize)> {
    let word = bytes.get(at..end).filter(|word| !word.is_empty());
    let Some(word) = word else { return login(bytes, at) };
    pem(bytes, at)
        .or_else(|| opening(word).map(|kept| (at + kept, end)))
        .or_else(|| bearer(bytes, word, end))
        .or_else(|| jwt(bytes, at, end))
        .or_else(|| bot(bytes, word, end))
}

/// How much of a word stays that begins as a token does, or has one in it.
fn opening(word: &[u8]) -> Option<usize> {
    let fits = |kept: usize, min: usize, digit: Digit| {
        let tail = word.get(kept..).unwrap_or_default();
        tail.len() >= min && (digit == Digit::Free || tail.iter().any(u8::is_ascii_digit))
    };
    let begins = OPENINGS.iter().find_map(|(mark, min, digit)| {
        let fits = word.starts_with(mark.as_bytes()) && fits(mark.len(), *min, *digit);
        fits.then_some(mark.len())
    });
    begins.or_else(|| {
        MARKS.iter().find_map(|(mark, min)| {
            let at = word.windows(mark.len()).position(|some| some == mark.as_bytes())?;
            let kept = at + mark.len();
            fits(kept, *min, Digit::Free).then_some(kept)
        })
    })
}

/// `Bearer TOKEN`, as in a header.
fn bearer(bytes: &[u8], word: &[u8], end: usize) -> Option<(usize, usize)> {
    if !word.eq_ignore_ascii_case(b"bearer") || bytes.get(end) != Some(&b' ') {
        return None;
    }
    let from = end + 1;
    let to = run(bytes, from, |byte| in_word(byte) || b".~+/=".contains(&byte));
    let token = bytes.get(from..to)?;
    let long = token.len() >= BEARER_MIN && token.iter().any(u8::is_ascii_digit);
    long.then_some((from, to))
}

/// Three parts with dots between them; the first is JSON, so it begins with `eyJ`.
fn jwt(bytes: &[u8], at: usize, end: usize) -> Option<(usize, usize)> {
    if !bytes.get(at..end)?.starts_with(b"eyJ") || end - at < JWT_PART_MIN {
        return None;
    }
    let mut to = end;
    for _ in 0..2 {
        let from = to + 1;
        let next = run(bytes, from, in_word);
        if bytes.get(to) != Some(&b'.') || next.saturating_sub(from) < JWT_PART_MIN {
            return None;
        }
        to = next;
    }
    Some((at, to))
}

/// `NUMBER:TOKEN`, also behind `bot`, as in the address of a call.
fn bot(bytes: &[u8], word: &[u8], end: usize) -> Option<(usize, usize)> {
    let number = word.strip_prefix(b"bot").unwrap_or(word);
    let is_number = (6..=12).contains(&number.len()) && number.iter().all(u8::is_ascii_digit);
    if !is_number || bytes.get(end) != Some(&b':') {
        return None;
    }
    let to = run(bytes, end + 1, in_word);
    (to - end - 1 == BOT_TAIL).then_some((end + 1, to))
}

/// A private key in its armour, with all its lines; without an end, all that follows.
fn pem(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(at..).filter(|rest| rest.starts_with(b"-----BEGIN"))?;
    let head = rest.get(..rest.len().min(PEM_LINE_MAX))?;
    let title = find(head, b"PRIVATE KEY-----")?;
    let body = title + b"PRIVATE KEY-----".len();
    let end = find(rest.get(body..)?, b"-----END");
    Some((at + body, end.map_or(bytes.len(), |end| at + body + end)))
}

/// The password in an address: `://NAME:PASSWORD@`.
fn login(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let from = at + 3;
    let rest = bytes.get(from..).filter(|_| bytes.get(at..from) == Some(b"://"))?;
    let most = rest.get(..rest.len().min(LOGIN_MAX))?;
    let end =
        most.iter().position(|byte| matches!(byte, b'@' | b'/') || !byte.is_ascii_graphic())?;
    let login = most.get(..end).filter(|_| most.get(end) == Some(&b'@'))?;
    let colon = login.iter().position(|byte| *byte == b':')?;
    (colon + 1 < end).then_some((from + colon + 1, from + end))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|some| some == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, clean: &str) {
        assert_eq!(redact(text), clean);
        assert_eq!(redact(clean), clean, "what is clean stays as it is");
    }

    /// So many characters that no token here is short of.
    const TAIL: &str = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz3";

    #[test]
    fn tokens_are_known_by_their_beginning() {
        for mark in [
            "sk-",
            "sk-ant-api03-",
            "sk-proj-",
            "ghp_",
            "gho_",
            "github_pat_",
            "glpat-",
            "xoxb-",
            "AIza",
            "npm_",
            "hf_",
        ] {
            for (before, after) in [("", ""), ("key=", ";"), ("\"", "\""), ("é ", " ü")] {
                let told = redact(&format!("{before}{mark}{TAIL}{after}")).into_owned();
                assert!(told.starts_with(before) && told.ends_with(after), "{told}");
                assert!(told.contains(GONE) && !told.contains("Ef3"), "{told}");
            }
        }
        check("AKIAIOSFODNN7EXAMPLE is one", "AKIA[redacted] is one");
        let behind = format!("\u{1b}[31mghp_{TAIL}\u{1b}[0m");
        check(&behind, "\u{1b}[31mghp_[redacted]\u{1b}[0m");
    }

    #[test]
    fn headers_web_tokens_bots_and_addresses_are_known() {
        check(
            "Authorization: Bearer abc.def-123/456+789=, more",
            "Authorization: Bearer [redacted], more",
        );
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbU";
        check(&format!("cookie {jwt}; path"), "cookie [redacted]; path");
        let bot = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1";
        check(bot, "123456789:[redacted]");
        check(
            &format!("https://api.telegram.org/bot{bot}/getMe"),
            "https://api.telegram.org/bot123456789:[redacted]/getMe",
        );
        check("https://me:hunter2@host/x", "https://me:[redacted]@host/x");
    }

    #[test]
    fn private_keys_go_with_all_their_lines() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nowIB\n-----END RSA PRIVATE KEY-----";
        check(
            &format!("before\n{key}\nafter"),
            "before\n-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nafter",
        );
        let cut = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE";
        assert_eq!(redact(cut), "-----BEGIN OPENSSH PRIVATE KEY-----[redacted]");
        let public = "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----";
        assert_eq!(redact(public), public);
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "",
            "task-runner-with-a-very-long-name-that-goes-on",
            "sk-a-word-with-dashes-and-nothing-else",
            "Bearer of bad news",
            "the bearer authentication-is-required",
            "12:30:59 at 2026-11-15T16:28:06Z",
            "refs/glis/snap/019a8b7c-1234/1763224086123-0a1b2c3d",
            "4f2d0c1e9b8a7f6e5d4c3b2a190817263544f2d0 a commit",
            "019a8b7c-6f1e-7c3a-9d2b-0123456789ab",
            "https://host:8080/x@y and git@host:repo",
            "eyJust a word. And another. And a third.",
            "-----BEGIN CERTIFICATE-----",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn a_long_text_of_beginnings_takes_no_longer_than_another() {
        for unit in ["sk-", "eyJ", "eyJhbGciOi.", "-----BEGIN ", "://a:", "Bearer ", "bot1234567:"]
        {
            // A million bytes: whatever goes through the rest again at each of them does not end.
            let text = unit.repeat(1_000_000 / unit.len());
            drop(redact(&text));
        }
    }
}
