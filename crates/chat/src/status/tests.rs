//! One bot for a house.

use super::*;

#[test]
fn a_house_has_one_bot_and_its_state_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let status = Status::take(dir.path()).unwrap();
    assert!(matches!(Status::take(dir.path()), Err(NoPlace::Taken)));
    status.tell(&Health::trouble("no network", "wait"));
    status.tell(&Health::good("glis_bot"));
    let text = std::fs::read_to_string(dir.path().join(CHAT_STATUS)).unwrap();
    let read: Health = serde_json::from_str(&text).unwrap();
    assert_eq!(read, Health::good("glis_bot"));
    drop(status);
    assert!(Status::take(dir.path()).is_ok());
}
