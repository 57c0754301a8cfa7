//! Reading the databases of others: in use, left by a killed process, closed, empty, none.

use super::*;

const STATE: &str = "SELECT count(*) || char(10) || group_concat(said, char(10)) FROM words \
                     WHERE id = ?1 HAVING count(*) > 0";
const TEXT: &str = "SELECT group_concat(said, ' ') FROM words WHERE id = ?1 HAVING count(*) > 0";

fn rows(database: Database) -> Rows {
    Rows { database, id: "a".to_owned(), state: STATE, text: TEXT, ending: "", take_back: &[] }
}

fn at(path: &Path) -> Rows {
    rows(Database::At(path.to_string_lossy().into_owned()))
}

fn writer(path: &Path) -> Connection {
    let database = Connection::open(path).unwrap();
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL; CREATE TABLE words (id TEXT, said TEXT); \
             INSERT INTO words VALUES ('a', 'one'), ('b', 'other');",
        )
        .unwrap();
    database
}

fn say(database: &Connection, word: &str) {
    database.execute("INSERT INTO words VALUES ('a', ?1)", [word]).unwrap();
}

fn words(rows: &Rows) -> Option<String> {
    text(rows).unwrap().map(|(_, text)| text)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn what_is_in_use_is_read_as_far_as_it_was_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in use? 100%#.db");
    let database = writer(&path);
    assert_eq!(words(&at(&path)).as_deref(), Some("one"));
    say(&database, "two");
    assert_eq!(state(&at(&path)).unwrap(), Some(State("2\none\ntwo".to_owned())));
    // An unfinished transaction does not count, and locks no reader out.
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    say(&database, "three");
    assert_eq!(words(&at(&path)).as_deref(), Some("one two"));
    database.execute_batch("COMMIT").unwrap();
    assert_eq!(words(&at(&path)).as_deref(), Some("one two three"));
}

#[test]
fn a_closed_one_is_read_without_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("closed.db");
    drop(writer(&path));
    assert_eq!(names(dir.path()), ["closed.db"]);
    let before = stamp(&path);
    assert_eq!(words(&at(&path)).as_deref(), Some("one"));
    assert_eq!((names(dir.path()), stamp(&path)), (vec!["closed.db".to_owned()], before));
}

/// What a killed process has said lies in the log alone.
#[test]
fn what_a_killed_writer_left_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("left.db");
    let database = writer(&path);
    say(&database, "two");
    let left = tempfile::tempdir().unwrap();
    let copied = left.path().join("left.db");
    for beside in ["", "-wal", "-shm"] {
        let name = |path: &Path| format!("{}{beside}", path.display());
        std::fs::copy(name(&path), name(&copied)).unwrap();
    }
    assert!(log_of(&copied).metadata().unwrap().len() > 0);
    let before = stamp(&copied);
    assert_eq!(words(&at(&copied)).as_deref(), Some("one two"));
    assert_eq!(stamp(&copied), before, "the database is as it was left");
    sync(&at(&copied)).unwrap();
}

#[test]
fn what_knows_nothing_is_told_from_what_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    assert_eq!(words(&at(&path)), None);
    assert!(!path.exists());
    assert_eq!(words(&at(dir.path())), None);
    std::fs::write(&path, "").unwrap();
    assert_eq!(words(&at(&path)), None);
    std::fs::write(&path, "no database at all, and longer than its first page would be".repeat(99))
        .unwrap();
    assert!(text(&at(&path)).is_err());
    std::fs::remove_file(&path).unwrap();
    let database = Connection::open(&path).unwrap();
    database.execute_batch("CREATE TABLE others (id TEXT)").unwrap();
    drop(database);
    let fault = text(&at(&path)).unwrap_err().to_string();
    assert!(fault.contains("x.db") && fault.contains("words"), "{fault}");
    std::fs::remove_file(&path).unwrap();
    let mut other = at(&path);
    drop(writer(&path));
    other.id = "unknown".to_owned();
    assert_eq!(words(&other), None);
}

#[test]
fn of_several_the_one_that_knows_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_string_lossy().into_owned();
    let among = rows(Database::Among { folder, beginning: "agent", ending: ".db" });
    assert_eq!(words(&among), None);
    std::fs::write(dir.path().join("agent.db"), "").unwrap();
    drop(writer(&dir.path().join("other.db")));
    assert_eq!(words(&among), None);
    drop(writer(&dir.path().join("agent-dev.db")));
    assert_eq!(words(&among).as_deref(), Some("one"));
    assert!(
        describe(&among).starts_with("a in /") && describe(&among).ends_with("/agent\u{2026}.db")
    );
}

/// A process opens, writes and closes it while it is read: what was read before that is not trusted.
#[test]
fn what_has_changed_meanwhile_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("changes.db");
    drop(writer(&path));
    let looks = std::cell::Cell::new(0);
    let count = look_into(&path, |database| {
        let count = "SELECT count(*) FROM words WHERE id = 'a'";
        let count = database.query_row(count, [], |row| row.get::<_, i64>(0))?;
        looks.set(looks.get() + 1);
        if looks.get() == 1 {
            // Long enough for the file to grow: clocks of file systems tick slowly.
            say(&Connection::open(&path)?, &"long ".repeat(10_000));
        }
        Ok(Some(count))
    });
    assert_eq!((count.unwrap(), looks.get()), (Some(2), 2));
}

#[test]
fn only_the_last_message_tells_of_a_limit_or_a_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let home = path.to_string_lossy().into_owned();
    let places = glis_agent::Places { home, ..Default::default() };
    let rows = glis_agent::find("opencode").unwrap().rows("a", &places).unwrap();
    let database = Connection::open(&path).unwrap();
    let create = "CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)";
    database.execute_batch(create).unwrap();
    let failed = |status: u16| {
        let data = serde_json::json!({"message": "too much", "statusCode": status});
        serde_json::json!({"role": "assistant", "error": {"name": "APIError", "data": data}})
    };
    let asked = serde_json::json!({"role": "user"});
    let answered = |finish: &str| serde_json::json!({"role": "assistant", "finish": finish});
    let told = Some(Rows::LIMIT.to_owned());
    let story = [
        ("a", asked.clone(), None),
        ("a", failed(429), told.clone()),
        ("b", asked.clone(), told),
        ("a", asked, None),
        ("a", failed(500), None),
        ("a", answered("length"), Some(Rows::LENGTH.to_owned())),
        ("a", answered("stop"), None),
    ];
    for (time, (session, data, expected)) in (1..).zip(story) {
        let message = (format!("msg_{time}"), session, time, data.to_string());
        database.execute("INSERT INTO message VALUES (?1, ?2, ?3, ?4)", message).unwrap();
        assert_eq!(ending(&rows).unwrap(), expected, "{data}");
    }
}
