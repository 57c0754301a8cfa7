//! Stories of a chat under a network that bans, fails and forgets.

use super::*;

/// That of a person, with nobody else there.
fn outbox() -> Outbox {
    Outbox::new(7, &Arc::default())
}

fn post(id: u64, chat: i64, lane: Lane) -> Item {
    Item::new(id, chat, None, lane, What::words(format!("{lane:?} {id}")))
}

fn picture(session: &str, text: &str) -> Picture {
    let (session, text) = (session.to_owned(), Text::plain(text));
    Picture { thread: None, session, is_current: false, text }
}

fn card(id: u64, chat: i64) -> Item {
    let text = Text::plain(format!("card {id}"));
    let what = What::Post { text, keys: Vec::new(), card: Some(id.to_string()), whole: None };
    Item::new(id, chat, None, Lane::Approval, what)
}

/// Sends everything on a network that takes it, and tells when and what.
fn drain(outbox: &mut Outbox, mut now: u64) -> Vec<(u64, Vec<u64>)> {
    let mut sent = Vec::new();
    loop {
        match outbox.next(now) {
            Next::Send(items) => {
                sent.push((now, items.iter().map(|item| item.id).collect()));
                outbox.report(&items, now, &Ok(Some(1)));
            }
            Next::Show(_) => outbox.report_picture(now, &Ok(None)),
            Next::Wait(until) => {
                assert!(until > now);
                now = until;
            }
            Next::Idle => return sent,
        }
    }
}

#[test]
fn what_is_more_important_goes_first_and_each_lane_in_order() {
    let mut outbox = outbox();
    for (id, lane) in [(2, Lane::Reply), (3, Lane::Final), (4, Lane::Final), (5, Lane::Reply)] {
        outbox.push(post(id, 7, lane));
    }
    outbox.push(card(6, 7));
    let ids: Vec<_> = drain(&mut outbox, 0).into_iter().map(|(_, ids)| ids).collect();
    assert_eq!(ids, [vec![6], vec![3, 4], vec![2, 5]]);
}

#[test]
fn one_budget_holds_over_everything_in_a_chat() {
    for (chat, gap) in [(7, 1000), (-7, 3000)] {
        let mut outbox = Outbox::new(chat, &Arc::default());
        for id in 0..10 {
            outbox.push(card(id, chat));
        }
        let times: Vec<u64> = drain(&mut outbox, 0).iter().map(|(at, _)| *at).collect();
        assert_eq!(times.len(), 10);
        for four in times.windows(4) {
            assert!(four[3] - four[0] >= gap, "{times:?}");
        }
    }
}

#[test]
fn a_ban_is_obeyed_whole_and_all_arrives_right_after() {
    let mut outbox = outbox();
    outbox.push(post(1, 7, Lane::Final));
    let Next::Send(items) = outbox.next(0) else { panic!() };
    outbox.report(&items, 0, &Err(ChannelFault::TooMany(300)));
    for id in 2..40 {
        outbox.push(post(id, 7, Lane::Final));
    }
    outbox.push(card(50, 7));
    outbox.picture(picture("s", "x"));
    for now in (0..300_000).step_by(997) {
        assert!(matches!(outbox.next(now), Next::Wait(until) if until >= 300_000), "{now}");
    }
    let sent = drain(&mut outbox, 299_999);
    assert!(sent.iter().all(|(at, _)| (300_000..302_000).contains(at)), "{sent:?}");
    let order: Vec<u64> = sent.into_iter().flat_map(|(_, ids)| ids).collect();
    assert_eq!(order, [vec![50], (1..40).collect()].concat());
}

/// Behind the words of each turn the picture of it goes; that keeps no words apart.
#[test]
fn words_of_several_turns_stand_together_whatever_goes_between_them() {
    let mut outbox = outbox();
    for id in 0..5 {
        outbox.push(post(2 * id, 7, Lane::Final));
        let clear = What::Clear { session: "s".to_owned() };
        outbox.push(Item::new(2 * id + 1, 7, None, Lane::Final, clear));
    }
    let ids: Vec<_> = drain(&mut outbox, 0).into_iter().map(|(_, ids)| ids).collect();
    assert_eq!(ids[0], [0, 2, 4, 6, 8]);
    assert_eq!(ids[1..].concat(), [1, 3, 5, 7, 9]);
}

/// The longest ban that was ever seen.
#[test]
fn no_ban_is_cut_short() {
    for secs in [0, 1, 30, 6775] {
        let pace = Arc::default();
        let mut outbox = Outbox::new(7, &pace);
        outbox.push(card(1, 7));
        let Next::Send(items) = outbox.next(5) else { panic!() };
        outbox.report(&items, 5, &Err(ChannelFault::TooMany(secs)));
        let Next::Wait(until) = outbox.next(6) else { panic!() };
        assert!(until >= 5 + 1000 * secs.max(1), "{secs}");
        // Another chat has no part in it.
        let mut other = Outbox::new(8, &pace);
        other.push(card(2, 8));
        assert!(matches!(other.next(6), Next::Send(items) if items[0].id == 2));
    }
}

#[test]
fn a_picture_is_shown_at_once_or_never() {
    let picture = |n: u64| picture("s", &n.to_string());
    let mut outbox = outbox();
    outbox.picture(picture(1));
    outbox.picture(picture(2));
    assert_eq!(outbox.next(0), Next::Show(picture(2)));
    outbox.report_picture(0, &Ok(None));
    outbox.picture(picture(3));
    assert_eq!(outbox.next(1), Next::Idle, "too soon");
    assert_eq!(outbox.next(9_000), Next::Idle, "it was not kept");
    outbox.picture(picture(4));
    outbox.push(post(1, 7, Lane::Reply));
    assert!(matches!(outbox.next(9_000), Next::Send(_)), "what must arrive goes first");
}

/// Who shows what, each time that there is room for a picture.
fn shown_in(chat: i64, rounds: u64, each: impl Fn(u64) -> Vec<Picture>) -> String {
    let mut outbox = Outbox::new(chat, &Arc::default());
    let mut shown = String::new();
    for round in 0..rounds {
        let now = round * 10_000;
        for picture in each(round) {
            outbox.picture(picture);
        }
        if let Next::Show(picture) = outbox.next(now) {
            shown.push_str(&picture.session);
            outbox.report_picture(now, &Ok(None));
        }
    }
    shown
}

#[test]
fn of_several_at_work_the_current_one_is_shown_and_else_each_in_turn() {
    let others = |_: u64| ["a", "b", "c"].map(|session| picture(session, "x")).to_vec();
    let current = || Picture { is_current: true, ..picture("z", "x") };
    let with_current = |round: u64| others(round).into_iter().chain([current()]).collect();
    let at_first = |round: u64| if round < 3 { with_current(round) } else { others(round) };
    assert_eq!(shown_in(7, 6, others), "abcabc");
    assert_eq!(shown_in(7, 6, at_first), "zzzabc", "the chat's own comes first");
    assert_eq!(shown_in(-7, 6, with_current), "abczab", "a group is nobody's");
}

#[test]
fn faults_of_the_network_are_waited_out() {
    for outcome in
        [Err(ChannelFault::Unreachable(String::new())), Err(ChannelFault::Server(String::new()))]
    {
        let mut outbox = outbox();
        outbox.push(card(1, 7));
        outbox.push(post(2, 7, Lane::Final));
        let edit = What::Edit { message: 5, text: Text::plain("Denied") };
        outbox.push(Item::new(3, 7, None, Lane::Reply, edit));
        let mut now = 0;
        let mut tries = 0;
        // Eight hours without network.
        while now < 8 * 3_600_000 {
            match outbox.next(now) {
                Next::Send(items) => {
                    tries += 1;
                    assert_eq!(outbox.report(&items, now, &outcome), Settled::Waiting);
                }
                Next::Wait(until) => now = until,
                Next::Show(_) | Next::Idle => panic!(),
            }
        }
        assert!((900..1000).contains(&tries), "{tries}");
        let mut ids: Vec<u64> = drain(&mut outbox, now).into_iter().flat_map(|it| it.1).collect();
        ids.sort_unstable();
        assert_eq!(ids, [1, 2, 3], "{outcome:?}");
    }
}

/// What a server takes within some time that fails at these.
fn played(outbox: &mut Outbox, most: u64, fails: impl Fn(u64, &Item) -> bool) -> Vec<u64> {
    let (mut now, mut sent) = (0, Vec::new());
    while now < most && outbox.waiting() > 0 {
        match outbox.next(now) {
            Next::Send(items) if fails(now, &items[0]) => {
                outbox.report(&items, now, &Err(ChannelFault::Server(String::new())));
            }
            Next::Send(items) => {
                sent.extend(items.iter().map(|item| item.id));
                outbox.report(&items, now, &Ok(Some(1)));
            }
            Next::Wait(until) => now = until,
            Next::Show(_) | Next::Idle => break,
        }
    }
    sent
}

/// What a server fails at while it takes everything else is sent in a plainer form, and holds nothing up for good.
#[test]
fn one_that_the_server_fails_at_is_told_from_a_server_that_fails() {
    let mut outbox = outbox();
    let what = What::words(Text::default().bold("x"));
    outbox.push(Item::new(1, 7, None, Lane::Final, what));
    outbox.push(post(2, 7, Lane::Final));
    outbox.push(Item { alone: true, ..post(3, 7, Lane::Reply) });
    outbox.push(post(4, 7, Lane::Reply));
    let sent = played(&mut outbox, 3_600_000, |_, item| {
        item.id == 1 && item.fallback != Fallback::PlainText
    });
    assert_eq!(outbox.waiting(), 0, "{sent:?}");
    assert_eq!(sent, [3, 4, 1, 2]);
}

/// After an outage that all have met, one that fails still keeps no other from being sent.
#[test]
fn one_that_fails_after_an_outage_holds_up_no_other() {
    let mut outbox = outbox();
    outbox.push(card(1, 7));
    outbox.push(post(2, 7, Lane::Final));
    outbox.push(post(3, 7, Lane::Reply));
    let sent = played(&mut outbox, 4 * 3_600_000, |now, item| {
        now < 3_600_000 || (item.id == 2 && item.fallback != Fallback::Notice)
    });
    assert_eq!(sent.first(), Some(&1), "{sent:?}");
    assert!(sent.contains(&3), "{sent:?}");
}

/// In one message nobody could tell whose words they are.
#[test]
fn words_of_two_sessions_are_not_one_message() {
    let mut outbox = outbox();
    let by =
        |id, session: &str| Item { speaker: Some(session.to_owned()), ..post(id, 7, Lane::Final) };
    for item in [by(1, "a"), by(2, "a"), by(3, "b"), by(4, "a")] {
        outbox.push(item);
    }
    let ids: Vec<_> = drain(&mut outbox, 0).into_iter().map(|(_, ids)| ids).collect();
    assert_eq!(ids, [vec![1, 2], vec![3], vec![4]]);
}

#[test]
fn what_is_refused_is_sent_in_a_plainer_form_and_never_dropped() {
    let mut outbox = outbox();
    let what = What::words(Text::default().bold("bold"));
    outbox.push(Item::new(1, 7, Some(3), Lane::Final, what));
    let mut seen = Vec::new();
    let mut now = 0;
    loop {
        match outbox.next(now) {
            Next::Send(items) => {
                let What::Post { text, .. } = &items[0].what else { panic!() };
                seen.push((text.text.clone(), text.entities.len(), items[0].thread));
                outbox.report(&items, now, &Err(ChannelFault::Unknown));
            }
            Next::Wait(until) => now = until,
            Next::Idle => break,
            Next::Show(_) => panic!(),
        }
    }
    assert_eq!(seen[0], ("bold".to_owned(), 1, Some(3)));
    assert_eq!(seen[1], ("bold".to_owned(), 0, None));
    assert_eq!(seen.len(), 3);
    assert_eq!(outbox.waiting(), 1, "it waits until the chat is open again");
    outbox.open();
    assert_eq!(drain(&mut outbox, now).len(), 1);
}

#[test]
fn one_that_is_refused_takes_no_other_along() {
    let mut outbox = outbox();
    outbox.push(post(1, 7, Lane::Final));
    outbox.push(post(2, 7, Lane::Final));
    let Next::Send(both) = outbox.next(0) else { panic!() };
    assert_eq!(both.len(), 2);
    outbox.report(&both, 0, &Err(ChannelFault::Unknown));
    let Next::Send(one) = outbox.next(0) else { panic!() };
    assert_eq!(one.iter().map(|item| item.id).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_chat_that_shut_the_bot_out_gets_everything_when_it_is_back() {
    let mut outbox = outbox();
    outbox.push(post(1, 7, Lane::Final));
    let Next::Send(items) = outbox.next(0) else { panic!() };
    outbox.report(&items, 0, &Err(ChannelFault::Blocked));
    outbox.push(post(2, 7, Lane::Final));
    assert_eq!(outbox.next(1_000_000), Next::Idle);
    outbox.open();
    let ids: Vec<_> = drain(&mut outbox, 1_000_000).into_iter().map(|(_, ids)| ids).collect();
    assert_eq!(ids, [[1, 2]]);
}

#[test]
fn floods_lose_their_oldest() {
    let mut outbox = outbox();
    for id in 10..500 {
        let gone = outbox.push(post(id, 7, Lane::Reply));
        assert_eq!(gone.is_empty(), id < 10 + REPLIES_MAX as u64);
    }
    assert_eq!(outbox.waiting(), REPLIES_MAX);
    for id in 1000..3000 {
        assert!(outbox.push(post(id, 7, Lane::Final)).is_empty());
    }
}

/// A server that fails is left alone by all, and all chats together keep to one budget.
#[test]
fn what_holds_for_the_server_holds_for_every_chat() {
    let pace = Arc::default();
    let mut chats = [7, 8].map(|chat| Outbox::new(chat, &pace));
    for (chat, outbox) in [7, 8].into_iter().zip(&mut chats) {
        outbox.push(card(1, chat));
    }
    let Next::Send(items) = chats[0].next(0) else { panic!() };
    chats[0].report(&items, 0, &Err(ChannelFault::Unreachable(String::new())));
    assert_eq!(chats[1].next(1), Next::Wait(1000));
    assert!(matches!(chats[1].next(1000), Next::Send(_)));
    let mut last = 0;
    for chat in 100..200 {
        let mut outbox = Outbox::new(chat, &pace);
        outbox.push(card(1, chat));
        last = drain(&mut outbox, 2000)[0].0;
    }
    assert!(last > 4000, "thirty a second: {last}");
}

/// A card whose whole is in a file.
fn long_card(thread: Option<i64>) -> Item {
    let key = |label: &str| Key { label: label.to_owned(), data: label.to_owned() };
    let without = (Text::plain("not all"), vec![vec![key("Deny")]]);
    let (name, content) = ("asks.txt".to_owned(), "all".to_owned());
    let whole = Some(Box::new(Whole { name, content, taken_in: None, without }));
    let keys = vec![vec![key("Allow once"), key("Deny")]];
    let what = What::Post { text: Text::plain("head"), keys, card: Some("c".to_owned()), whole };
    Item::new(1, 7, thread, Lane::Approval, what)
}

/// What is sent of one item, with its place, as these outcomes come one after the other.
fn forms(item: Item, outcomes: &[Outcome]) -> Vec<(Option<i64>, String)> {
    let mut outbox = outbox();
    outbox.push(item);
    let (mut now, mut sent) = (0, Vec::new());
    for outcome in outcomes {
        let items = loop {
            match outbox.next(now) {
                Next::Send(items) => break items,
                Next::Wait(until) => now = until,
                Next::Show(_) | Next::Idle => return sent,
            }
        };
        let what = items[0].file_due().unwrap_or_else(|| items[0].what.clone());
        let form = if let What::Post { text, keys, .. } = &what {
            let labels: Vec<&str> = keys.iter().flatten().map(|it| it.label.as_str()).collect();
            format!("{}: {}", text.text, labels.join(", "))
        } else {
            let What::File { content, .. } = &what else { panic!("{what:?}") };
            format!("file: {content}")
        };
        sent.push((items[0].thread, form));
        outbox.report(&items, now, outcome);
    }
    sent
}

/// Who has not got the file has not seen what is asked.
#[test]
fn a_card_comes_behind_its_file_in_the_same_place_or_can_only_be_denied() {
    let taken = || Ok(Some(1));
    let seen = |forms: &[(Option<i64>, &str)]| -> Vec<(Option<i64>, String)> {
        forms.iter().map(|(thread, form)| (*thread, (*form).to_owned())).collect()
    };
    let (file, card, denied) = ("file: all", "head: Allow once, Deny", "not all: Deny");
    for (outcomes, expected) in [
        (vec![taken(), taken()], seen(&[(Some(3), file), (Some(3), card)])),
        (vec![Err(ChannelFault::Unknown), taken()], seen(&[(Some(3), file), (Some(3), denied)])),
        // The topic goes between the two, and what was in it.
        (
            vec![taken(), Err(ChannelFault::TopicGone), taken(), taken()],
            seen(&[(Some(3), file), (Some(3), card), (None, file), (None, card)]),
        ),
        (
            vec![taken(), Err(ChannelFault::TopicGone), Err(ChannelFault::Unknown), taken()],
            seen(&[(Some(3), file), (Some(3), card), (None, file), (None, denied)]),
        ),
        // Refused in its topic, the card is tried outside of it, and its file goes there before.
        (
            vec![taken(), Err(ChannelFault::Unknown), taken(), taken()],
            seen(&[(Some(3), file), (Some(3), card), (None, file), (None, card)]),
        ),
    ] {
        assert_eq!(forms(long_card(Some(3)), &outcomes), expected, "{outcomes:?}");
    }
    let refused = forms(long_card(None), &[const { Err(ChannelFault::Unknown) }; 4]);
    let last = refused.last().unwrap();
    assert!(last.1.ends_with("on the machine.: "), "{refused:?}");
}
