//! Who is let in, and who is not.

use super::*;
use serde_json::json;

fn policy() -> Policy {
    Policy::new(&[7, 8], &[-100])
}

fn message(user: i64, chat: i64, kind: &str) -> Value {
    json!({"update_id": 1, "message": {
        "message_id": 5, "date": 100, "text": "hi",
        "from": {"id": user, "is_bot": false}, "chat": {"id": chat, "type": kind},
    }})
}

fn press(user: i64, chat: i64, kind: &str) -> Value {
    json!({"update_id": 2, "callback_query": {
        "id": "q", "data": "d", "from": {"id": user, "is_bot": false},
        "message": {"message_id": 5, "chat": {"id": chat, "type": kind}},
    }})
}

#[test]
fn without_users_it_is_of_use_to_nobody() {
    assert!(Policy::new(&[], &[-100]).is_nobodys());
    assert!(Policy::new(&[0, -3], &[]).is_nobodys());
}

#[test]
fn a_user_is_let_in_where_they_are_known() {
    for update in [message, press] {
        for (user, chat, kind, expected) in [
            (7, 7, "private", true),
            (8, -100, "supergroup", true),
            (8, -100, "group", true),
            (9, 9, "private", false),
            (9, -100, "group", false),
            (7, 8, "private", false),
            (7, -101, "group", false),
            (7, -100, "channel", false),
            (7, 7, "other", false),
        ] {
            let seen = policy().admit(&update(user, chat, kind)).is_some();
            assert_eq!(seen, expected, "{user} {chat} {kind}");
        }
    }
}

#[test]
fn what_was_not_said_here_and_now_counts_for_nothing() {
    for field in ALIEN {
        let mut update = message(7, 7, "private");
        update["message"][field] = json!(true);
        assert_eq!(policy().admit(&update), None, "{field}");
    }
    for kind in ["edited_message", "channel_post", "edited_channel_post", "inline_query"] {
        let mut update = message(7, 7, "private");
        update[kind] = update["message"].take();
        update.as_object_mut().unwrap().remove("message");
        assert_eq!(policy().admit(&update), None, "{kind}");
    }
    let mut inline = press(7, 7, "private");
    inline["callback_query"].as_object_mut().unwrap().remove("message");
    assert_eq!(policy().admit(&inline), None);
    let mut bot = message(7, 7, "private");
    bot["message"]["from"]["is_bot"] = json!(true);
    assert_eq!(policy().admit(&bot), None);
}

/// A user who is on the list, taken out of any update: then no rest of it is let in.
#[test]
fn no_part_of_an_update_stands_for_the_user() {
    for update in [message(7, 7, "private"), press(7, 7, "private")] {
        for field in ["message", "callback_query"] {
            let mut update = update.clone();
            if let Some(inner) = update.get_mut(field).and_then(Value::as_object_mut) {
                inner.remove("from");
                inner.insert("via_user".to_owned(), json!({"id": 7}));
                assert_eq!(policy().admit(&update), None);
            }
        }
    }
}

#[test]
fn what_cannot_be_read_is_no_fault() {
    for update in [json!(null), json!([]), json!({"update_id": "x"}), json!({"message": {}})] {
        assert_eq!(policy().admit(&update), None, "{update}");
    }
    let mut pinned = message(7, 7, "private");
    pinned["message"].as_object_mut().unwrap().remove("text");
    pinned["message"]["pinned_message"] = json!({});
    assert_eq!(policy().admit(&pinned), None);
    let mut sticker = pinned;
    sticker["message"]["sticker"] = json!({});
    assert!(
        policy()
            .admit(&sticker)
            .is_some_and(|it| matches!(it.did, Did::Said(said) if said.text.is_empty()))
    );
}

#[test]
fn a_file_comes_with_its_words() {
    let mut update = message(7, -100, "group");
    let inner = update["message"].as_object_mut().unwrap();
    inner.remove("text");
    inner.insert("caption".to_owned(), json!("look"));
    inner.insert("photo".to_owned(), json!([{"file_id": "s"}, {"file_id": "l"}]));
    inner.insert("message_thread_id".to_owned(), json!(3));
    let admitted = policy().admit(&update).unwrap();
    let Did::Said(said) = admitted.did else { panic!() };
    assert_eq!((said.text.as_str(), admitted.place.thread), ("look", None));
    assert_eq!(said.file.map(|file| file.id), Some("l".to_owned()));
}
