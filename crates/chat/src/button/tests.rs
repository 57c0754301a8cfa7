//! Presses that count, and those that do not.

use super::*;

#[test]
fn a_press_counts_once_in_its_place_for_its_user_in_time() {
    let keys = |act: &Act, used_by| Keyboard {
        card: "c".to_owned(),
        chat: 7,
        user: 7,
        deadline: 100,
        acts: BTreeMap::from([("n".to_owned(), act.clone())]),
        used_by,
    };
    let fresh = keys(&Act::Leave, None);
    assert_eq!(fresh.press("n", 1, (7, 7), 100), Ok(&Act::Leave));
    assert_eq!(fresh.press("m", 1, (7, 7), 100), Err(Stale::Unknown));
    assert_eq!(fresh.press("n", 1, (7, 7), 101), Err(Stale::Expired));
    assert_eq!(fresh.press("n", 1, (8, 7), 0), Err(Stale::NotYours));
    assert_eq!(fresh.press("n", 1, (7, 8), 0), Err(Stale::NotYours));
    let used = keys(&Act::Leave, Some(1));
    assert_eq!(used.press("n", 2, (7, 7), 0), Err(Stale::Used));
    assert_eq!(used.press("n", 1, (7, 7), 999), Ok(&Act::Leave));
    assert_eq!(used.press("n", 1, (7, 8), 0), Err(Stale::NotYours));
    let act = Act::Switch { session: "s".to_owned() };
    let listed = keys(&act, Some(1));
    assert_eq!(listed.press("n", 2, (7, 7), 100), Ok(&act));
    assert_eq!(listed.press("n", 2, (7, 7), 101), Err(Stale::Expired));
}

#[test]
fn words_of_buttons_fit_and_differ() {
    let (one, other) = (nonce(), nonce());
    assert!(one.len() <= 64 && one != other && one.is_ascii());
}
