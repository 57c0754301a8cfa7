//! What was written is there after a kill, and only once.

use super::*;
use crate::button::{Act, Keyboard, Stale};
use crate::outbox::{Lane, What};
use crate::text::Text;

fn update(id: i64) -> Update {
    Update { id, body: format!("{{\"update_id\":{id}}}"), ..Update::default() }
}

fn post(words: &str) -> What {
    What::words(words)
}

#[test]
fn an_update_is_known_once_and_done_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path()).unwrap();
    let recorded = store.change(|change| {
        change.set_offset(Some(6), 0)?;
        Ok((change.record(&update(5))?, change.record(&update(5))?))
    });
    assert_eq!(recorded.unwrap(), (true, false));
    drop(store);
    let mut store = Store::open(dir.path()).unwrap();
    assert_eq!(store.look().offset(updates::UPDATES_MS - 1).unwrap(), Some(6));
    assert_eq!(store.look().offset(updates::UPDATES_MS).unwrap(), None, "nobody keeps those");
    assert_eq!(store.look().undone().unwrap(), [update(5)]);
    store
        .change(|change| {
            change.push((7, None), Lane::Reply, post("done"))?;
            change.done(5)
        })
        .unwrap();
    assert_eq!(store.look().undone().unwrap(), []);
    assert!(!store.change(|change| change.record(&update(5))).unwrap());
    assert_eq!(store.look().undone().unwrap(), [], "a repeat is harmless");
    let items = store.look().waiting(0).unwrap();
    assert_eq!((items.len(), &items[0].what), (1, &post("done")));
}

#[test]
fn half_a_change_is_none() {
    let mut store = Store::in_memory().unwrap();
    let failed: Result<(), StoreFault> = store.change(|change| {
        change.push((7, None), Lane::Final, post("x"))?;
        Err(StoreFault::OtherForm(9))
    });
    assert!(failed.is_err());
    assert_eq!(store.look().waiting(0).unwrap(), []);
}

#[test]
fn one_press_uses_up_the_whole_card() {
    let mut store = Store::in_memory().unwrap();
    let keys = |card: &str, nonces: &[&str]| Keyboard {
        card: card.to_owned(),
        chat: 7,
        user: 7,
        deadline: 100,
        acts: nonces.iter().map(|nonce| ((*nonce).to_owned(), Act::Leave)).collect(),
        used_by: None,
    };
    store
        .change(|change| {
            change.add_buttons(&keys("c", &["one", "two"]))?;
            change.add_buttons(&keys("d", &["three"]))
        })
        .unwrap();
    let press = |store: &Store, nonce: &str, update| {
        let keys = store.look().keyboard(nonce).unwrap().unwrap();
        keys.press(nonce, update, (7, 7), 0).cloned()
    };
    assert_eq!(press(&store, "one", 1), Ok(Act::Leave));
    let pressed = store.look().keyboard("one").unwrap().unwrap();
    store.change(|change| change.use_up(&pressed, 1)).unwrap();
    assert_eq!(press(&store, "one", 1), Ok(Act::Leave), "the same press again");
    assert_eq!(press(&store, "two", 2), Err(Stale::Used));
    assert_eq!(press(&store, "three", 3), Ok(Act::Leave));
    store.change(|change| change.void_buttons("d")).unwrap();
    assert_eq!(press(&store, "three", 3), Err(Stale::Used));
    assert_eq!(store.look().keyboard("four").unwrap(), None);
}

#[test]
fn a_card_that_was_not_sent_can_be_taken_back() {
    let mut store = Store::in_memory().unwrap();
    let card = Card {
        name: "c".to_owned(),
        chat: 7,
        thread: None,
        user: 7,
        session: "s".to_owned(),
        request: "r".to_owned(),
        generation: 1,
        shown: Text::plain("may I?"),
        message: None,
        state: CardState::Open,
        resolution: None,
        seen: Seen::All,
    };
    let what = What::Post {
        text: "may I?".into(),
        keys: Vec::new(),
        card: Some("c".to_owned()),
        whole: None,
    };
    let added = store.change(|change| {
        change.push((7, None), Lane::Approval, what)?;
        change.push((7, None), Lane::Approval, post("other"))?;
        Ok((change.add_card(&card)?, change.add_card(&card)?))
    });
    assert_eq!(added.unwrap(), (true, false));
    assert_eq!(store.look().open_cards("s").unwrap(), [card]);
    store.change(|change| change.unsend_card("c")).unwrap();
    assert_eq!(store.look().waiting(0).unwrap().len(), 1);
    store.change(|change| change.set_message("c", 9)).unwrap();
    assert_eq!(store.look().card_at(7, 9).unwrap().unwrap().name, "c");
    assert_eq!(store.look().card_at(8, 9).unwrap(), None);
    store.change(|change| change.close_card("c")).unwrap();
    assert_eq!(store.look().open_cards("s").unwrap(), []);
}

#[test]
fn a_file_of_another_form_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path()).unwrap());
    for form in [FORM - 1, 99] {
        let db = Connection::open(dir.path().join(FILE)).unwrap();
        db.pragma_update(None, "user_version", form).unwrap();
        drop(db);
        let opened = Store::open(dir.path());
        assert!(matches!(opened, Err(StoreFault::OtherForm(of)) if of == form));
    }
}

/// A clock that was set back while the bot did not run makes no ban longer.
#[test]
fn a_ban_is_never_longer_than_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    let hour = 3_600_000;
    store.change(|change| change.set_ban(7, hour, 300_000)).unwrap();
    let left = |now| store.look().ban(7, now).unwrap();
    let seen = [left(hour), left(hour + 100_000), left(9 * hour), left(-9 * hour)];
    assert_eq!(seen, [300_000, 200_000, 0, 300_000]);
}

/// A file that is broken is not lost, and keeps nobody from their sessions.
#[test]
fn a_damaged_file_is_put_aside() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE);
    let mut store = Store::open(dir.path()).unwrap();
    assert_eq!(store.put_aside().unwrap(), None);
    for id in 0..200 {
        store.change(|change| change.record(&update(id))).unwrap();
    }
    drop(store);
    let mut whole = std::fs::read(&path).unwrap();
    assert!(whole.len() > 3 * 4096);
    // The middle of it, which is not read to open it.
    let middle = whole.len() / 2;
    whole[middle..middle + 4096].fill(0x55);
    for damaged in [b"not a database at all, and longer than a header of one".repeat(3), whole] {
        std::fs::write(&path, &damaged).unwrap();
        let store = Store::open(dir.path()).unwrap();
        let aside = store.put_aside().unwrap().unwrap();
        assert_eq!(std::fs::read(dir.path().join(&aside)).unwrap(), damaged);
        assert_eq!(store.look().undone().unwrap(), []);
        drop(store);
        assert_eq!(Store::open(dir.path()).unwrap().put_aside().unwrap(), Some(aside.clone()));
        std::fs::remove_file(dir.path().join(aside)).unwrap();
    }
}
