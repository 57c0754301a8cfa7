//! A Bot API on loopback that enforces what the real one enforces: lengths in UTF-16, 64 bytes behind a button,
//! how often a chat may be written to with bans that grow on early retries, entities within their text,
//! updates that are forgotten when they are acknowledged, one poller. Faults are scripted.
#![forbid(unsafe_code)]

mod http;
mod methods;
mod rate;
mod rules;

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The token of the one bot.
pub const TOKEN: &str = "123456789:AAtestTESTtestTESTtestTESTtestTEST0";
/// Its name.
pub const NAME: &str = "glis_test_bot";
/// Its number.
pub const NUMBER: i64 = 123_456_789;
/// Nothing that a test waits for takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// What goes wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// 429, and so long a ban of the chat.
    TooMany(u64),
    /// Another status, with these words.
    Status(u16, &'static str),
    /// It is carried out, and half of the answer comes.
    HalfBody,
    /// It is carried out, and the connection ends without an answer.
    NoAnswer,
    /// Nothing is said for so long; then the connection ends.
    Silence(Duration),
}

/// A message in a chat.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its number.
    pub id: i64,
    /// The chat.
    pub chat: i64,
    /// The topic in it.
    pub thread: Option<i64>,
    /// Its words; of a file the words below it.
    pub text: String,
    /// How some of them look.
    pub entities: Value,
    /// What stands on its buttons, and what is behind it.
    pub buttons: Vec<(String, String)>,
    /// The name and the bytes of a file.
    pub file: Option<(String, Vec<u8>)>,
    /// When it came.
    pub at: Instant,
}

/// A request as it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What was asked for.
    pub method: String,
    /// The status of the answer.
    pub status: u16,
    /// When.
    pub at: Instant,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) updates: VecDeque<Value>,
    pub(crate) next_update: i64,
    pub(crate) messages: Vec<Message>,
    /// Those that make no sound.
    pub(crate) previews: Vec<Message>,
    pub(crate) queries: Vec<String>,
    pub(crate) acks: Vec<(String, String)>,
    pub(crate) commands: Vec<Value>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) faults: Vec<(String, Fault)>,
    pub(crate) rates: rate::Rates,
    /// How many have asked for updates: the last of them is answered.
    pub(crate) poller: u64,
    pub(crate) number: i64,
    /// Messages that were taken away.
    pub(crate) deleted: Vec<Message>,
    /// Groups with topics in which the bot may make some.
    pub(crate) forums: Vec<i64>,
    /// The topics: chat, number and name.
    pub(crate) topics: Vec<(i64, i64, String)>,
    /// Those that nobody may write in any more.
    pub(crate) closed: Vec<(i64, i64)>,
    /// Groups that have become supergroups: the old number and the new.
    pub(crate) moves: Vec<(i64, i64)>,
    /// Files that users have sent, by the name that the network has for each.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// By how much a test has moved its time.
    moved: Duration,
    pub(crate) away: bool,
    /// When it was last asked for updates.
    pub(crate) polled_at: Option<Instant>,
}

impl State {
    /// What time it is for the server.
    pub(crate) fn now(&self) -> Instant {
        Instant::now() + self.moved
    }
}

/// A running server. It ends with the process.
pub struct BotApi {
    shared: Arc<Shared>,
    address: SocketAddr,
}

pub(crate) struct Shared {
    state: Mutex<State>,
    pub(crate) changed: Condvar,
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BotApi {
    /// Starts a server on a port of its own.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let state = State { next_update: 1000, number: 1, ..State::default() };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&own);
                std::thread::spawn(move || drop(serve(&shared, &stream)));
            }
        });
        Ok(Self { shared, address })
    }

    /// Its address, for the configuration.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A user writes something in their private chat, or in a group.
    pub fn say(&self, user: i64, chat: i64, text: &str) -> i64 {
        self.update(json!({"message": self.message(user, chat, text)}))
    }

    fn message(&self, user: i64, chat: i64, text: &str) -> Value {
        let now = std::time::SystemTime::now() + self.shared.state().moved;
        let date = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
        json!({
            "message_id": 1, "date": date, "text": text, "from": from(user), "chat": chat_of(chat),
        })
    }

    /// The same, with more in the message.
    pub fn say_with(&self, user: i64, chat: i64, text: &str, more: &Value) -> i64 {
        let mut message = self.message(user, chat, text);
        for (key, value) in more.as_object().into_iter().flatten() {
            message[key] = value.clone();
        }
        // Who has sent what is answered is told with it.
        let own = message.pointer("/reply_to_message/message_id").and_then(Value::as_i64);
        if own.is_some_and(|id| self.messages().iter().any(|known| known.id == id)) {
            message["reply_to_message"]["from"] = bot();
        }
        self.update(json!({"message": message}))
    }

    /// A user sends a file, as a `document`, a `photo` or a `voice` message.
    pub fn send(&self, user: i64, kind: &str, name: &str, bytes: &[u8], caption: &str) -> i64 {
        let id = {
            let mut state = self.shared.state();
            let id = format!("file{}", state.files.len());
            state.files.push((id.clone(), bytes.to_vec()));
            id
        };
        let file = json!({"file_id": id, "file_name": name, "file_size": bytes.len()});
        let mut message = self.message(user, user, "");
        message["caption"] = json!(caption);
        message[kind] = match kind {
            // Small ones first; nobody has named it.
            "photo" => json!([{"file_id": "small", "file_size": 1},
                              {"file_id": id, "file_size": bytes.len()}]),
            _ => file,
        };
        message.as_object_mut().map(|fields| fields.remove("text"));
        self.update(json!({"message": message}))
    }

    /// A user presses a button: the last one with these words in the chat.
    pub fn press(&self, user: i64, chat: i64, label: &str) -> Option<i64> {
        let state = self.shared.state();
        let found = state.messages.iter().rev().filter(|message| message.chat == chat).find_map(
            |message| {
                let button = message.buttons.iter().find(|(known, _)| known == label)?;
                Some((message.id, button.1.clone()))
            },
        );
        drop(state);
        let (message, data) = found?;
        Some(self.press_data(user, chat, message, &data))
    }

    /// A user presses a button that carries this.
    pub fn press_data(&self, user: i64, chat: i64, message: i64, data: &str) -> i64 {
        let query = {
            let mut state = self.shared.state();
            let query = format!("q{}", state.queries.len());
            state.queries.push(query.clone());
            query
        };
        let (thread, forum) = {
            let state = self.shared.state();
            let shown = state.messages.iter().find(|known| known.id == message);
            (shown.and_then(|shown| shown.thread), state.forums.contains(&chat))
        };
        let mut shown = json!({"message_id": message, "chat": chat_of(chat)});
        if forum {
            shown["chat"]["is_forum"] = json!(true);
        }
        if let Some(thread) = thread {
            shown["message_thread_id"] = json!(thread);
            shown["is_topic_message"] = json!(true);
        }
        self.update(json!({"callback_query": {
            "id": query, "data": data, "from": from(user), "message": shown,
        }}))
    }

    /// A group becomes a supergroup: it has another number from now on.
    pub fn become_supergroup(&self, chat: i64, number: i64) {
        self.shared.state().moves.push((chat, number));
    }

    /// The group is told so; somebody whom nobody knows has made it one.
    pub fn tell_of_supergroup(&self, chat: i64, number: i64) -> i64 {
        let mut message = self.message(666, chat, "");
        message["migrate_to_chat_id"] = json!(number);
        self.update(json!({"message": message}))
    }

    /// A group has topics from now on, and the bot may make some.
    pub fn open_forum(&self, chat: i64) {
        self.shared.state().forums.push(chat);
    }

    /// The topics that there are: chat, number and name.
    pub fn topics(&self) -> Vec<(i64, i64, String)> {
        self.shared.state().topics.clone()
    }

    /// Whether a topic is closed.
    pub fn is_closed(&self, chat: i64, thread: i64) -> bool {
        self.shared.state().closed.contains(&(chat, thread))
    }

    /// A topic is deleted by a person.
    pub fn delete_topic(&self, chat: i64, thread: i64) {
        self.shared.state().topics.retain(|(of, id, _)| (*of, *id) != (chat, thread));
    }

    /// A user writes in a group that has topics, in one of them or in none.
    pub fn say_in(&self, user: i64, chat: i64, thread: Option<i64>, text: &str) -> i64 {
        let mut more = json!({"chat": {"id": chat, "type": "supergroup", "is_forum": true}});
        if let Some(thread) = thread {
            more["message_thread_id"] = json!(thread);
            more["is_topic_message"] = json!(true);
            // What is said in a topic answers the message that it began with.
            more["reply_to_message"] = json!({"message_id": thread, "from": bot()});
        }
        self.say_with(user, chat, text, &more)
    }

    /// So much time passes for the server.
    pub fn pass(&self, time: Duration) {
        self.shared.state().moved += time;
        self.shared.changed.notify_all();
    }

    /// What time it is for the server.
    pub fn now(&self) -> Instant {
        self.shared.state().now()
    }

    /// When it was last asked for updates.
    pub fn polled_at(&self) -> Option<Instant> {
        self.shared.state().polled_at
    }

    /// Any update; it gets a number.
    pub fn update(&self, mut update: Value) -> i64 {
        let mut state = self.shared.state();
        state.next_update += 1;
        let id = state.next_update;
        update["update_id"] = json!(id);
        state.updates.push_back(update);
        self.shared.changed.notify_all();
        id
    }

    /// Something that a user said comes once more, under the same number.
    pub fn say_again(&self, update: i64, user: i64, text: &str) {
        let update = json!({"update_id": update, "message": self.message(user, user, text)});
        self.shared.state().updates.push_back(update);
        self.shared.changed.notify_all();
    }

    /// From now on every request ends without an answer, and does nothing.
    pub fn go_away(&self) {
        self.shared.state().away = true;
        self.shared.changed.notify_all();
    }

    /// Requests are answered again.
    pub fn come_back(&self) {
        self.shared.state().away = false;
    }

    /// The next request for this goes wrong so.
    pub fn fail(&self, method: &str, fault: Fault) {
        self.shared.state().faults.push((method.to_owned(), fault));
    }

    /// How many scripted faults have not come to pass yet.
    pub fn faults_left(&self) -> usize {
        self.shared.state().faults.len()
    }

    /// All messages that make a sound, in the order in which they came; an edited one as it is now.
    pub fn messages(&self) -> Vec<Message> {
        self.shared.state().messages.clone()
    }

    /// Messages that were taken away, in that order.
    pub fn deleted(&self) -> Vec<Message> {
        self.shared.state().deleted.clone()
    }

    /// Everything that was asked for.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.state().seen.clone()
    }

    /// What popped up for presses.
    pub fn acks(&self) -> Vec<String> {
        self.shared.state().acks.iter().map(|(_, words)| words.clone()).collect()
    }

    /// The messages that make no sound, as they are now.
    pub fn previews(&self) -> Vec<Message> {
        self.shared.state().previews.clone()
    }

    /// The commands that were told.
    pub fn commands(&self) -> usize {
        self.shared.state().commands.len()
    }

    /// Waits until something is to be seen in what has come.
    pub fn until<T>(&self, look: impl Fn(&[Message]) -> Option<T>) -> Option<T> {
        self.until_for(PATIENCE, look)
    }

    /// The same, and no longer than this.
    pub fn until_for<T>(
        &self,
        patience: Duration,
        look: impl Fn(&[Message]) -> Option<T>,
    ) -> Option<T> {
        let end = Instant::now() + patience;
        let mut state = self.shared.state();
        loop {
            if let Some(found) = look(&state.messages) {
                return Some(found);
            }
            let left = end.checked_duration_since(Instant::now())?;
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits for a message in this chat that holds these words.
    pub fn await_words(&self, chat: i64, words: &str) -> Option<Message> {
        self.until(|messages| {
            let own = messages.iter().filter(|message| message.chat == chat);
            own.rev().find(|message| message.text.contains(words)).cloned()
        })
    }

    /// Waits until something was asked for that fits.
    pub fn until_seen(&self, fits: impl Fn(&[Seen]) -> bool) -> bool {
        let end = Instant::now() + PATIENCE;
        let mut state = self.shared.state();
        while !fits(&state.seen) {
            let Some(left) = end.checked_duration_since(Instant::now()) else { return false };
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

fn from(user: i64) -> Value {
    json!({"id": user, "is_bot": false, "first_name": "Test"})
}

fn bot() -> Value {
    json!({"id": NUMBER, "is_bot": true, "username": NAME})
}

fn chat_of(chat: i64) -> Value {
    json!({"id": chat, "type": if chat < 0 { "supergroup" } else { "private" }})
}

fn serve(shared: &Shared, stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(request) = http::read(&mut reader)? {
        if methods::answer(shared, &request, stream)? == methods::Then::Close {
            break;
        }
    }
    Ok(())
}
