//! Names that users give, and files on their way.

use super::*;

fn named(name: Option<&str>) -> String {
    let kind = if name.is_some() { AttachedKind::Document } else { AttachedKind::Photo };
    let (id, name) = (String::new(), name.map(str::to_owned));
    name_of(&Attached { id, name, bytes: None, kind })
}

#[test]
fn a_name_is_one_name_whatever_its_sender_called_it() {
    for (given, expected) in [
        ("notes.txt", "notes.txt"),
        ("../../.ssh/authorized_keys", "authorized_keys"),
        ("C:\\temp\\notes.txt", "notes.txt"),
        (".git", "git"),
        ("..", "file"),
        ("/", "file"),
        ("", "file"),
        ("--force", "force"),
        ("a\nb\u{1b}[2J\u{202e}txt.exe", "ab[2Jtxt.exe"),
        ("\u{d55c}\u{ae00}.md", "\u{d55c}\u{ae00}.md"),
    ] {
        assert_eq!(named(Some(given)), expected, "{given:?}");
    }
    assert_eq!(named(None), "photo.jpg");
    let long = named(Some(&format!("{}.tar.gz", "\u{1f600}".repeat(400))));
    assert!(
        long.len() <= NAME_BYTES_MAX && long.rsplit_once('.').is_some_and(|(_, end)| end == "gz"),
        "{long}"
    );
    assert!(named(Some(&"x".repeat(4000))).len() <= NAME_BYTES_MAX);
    assert!(named(Some(&format!("a.{}", "x".repeat(4000)))).len() <= NAME_BYTES_MAX);
}

#[test]
fn a_file_lies_at_its_place_until_it_is_not_needed() {
    let state = tempfile::tempdir().unwrap();
    let inbox = Inbox::new(state.path());
    inbox.keep_only(&[]).unwrap();
    assert_eq!(inbox.get(7, "a.txt"), None);
    let path = inbox.put(7, "a.txt", b"one").unwrap();
    assert_eq!(inbox.put(7, "a.txt", b"two").unwrap(), path);
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
    let other = inbox.put(8, "a.txt", b"three").unwrap();
    inbox.keep_only(&[8]).unwrap();
    assert!(!path.exists());
    assert_eq!(inbox.get(8, "a.txt"), Some(other));
    inbox.forget(8);
    assert_eq!(inbox.get(8, "a.txt"), None);
}
