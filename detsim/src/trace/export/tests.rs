//! What is exported is whole, and says what the trace says.

use std::collections::BTreeMap;

use expect_test::expect;

use super::super::sample::{header, long, story};
use super::*;

/// A JSON value, as little of it as the tests ask for.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(u64),
    Other,
    Text(String),
    List(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

impl Value {
    fn get(&self, name: &str) -> &Self {
        let Self::Object(fields) = self else { panic!("no object: {self:?}") };
        fields.get(name).unwrap_or_else(|| panic!("no `{name}` in {fields:?}"))
    }

    fn list(&self) -> &[Self] {
        let Self::List(items) = self else { panic!("no list: {self:?}") };
        items
    }

    fn text(&self) -> &str {
        let Self::Text(text) = self else { panic!("no text: {self:?}") };
        text
    }

    fn number(&self) -> u64 {
        let Self::Number(number) = self else { panic!("no number: {self:?}") };
        *number
    }
}

/// A strict reader of JSON: panics on what is none.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn read(text: &str) -> Value {
        let mut reader = Reader(text);
        let value = reader.value();
        assert_eq!(reader.0.trim(), "");
        value
    }

    fn eat(&mut self, token: &str) -> bool {
        self.0 = self.0.trim_start();
        let rest = self.0.strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) {
        assert!(self.eat(token), "`{token}` expected: {:.60}", self.0);
    }

    fn value(&mut self) -> Value {
        if self.eat("{") {
            return self.object();
        }
        if self.eat("[") {
            return self.list();
        }
        if self.eat("\"") {
            return Value::Text(self.string());
        }
        let end = self.0.find(|c: char| !c.is_ascii_digit() && !"-.".contains(c));
        let (number, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        match number.parse() {
            Ok(whole) => Value::Number(whole),
            Err(_) => {
                assert!(number.parse::<f64>().is_ok(), "a number expected: `{number}`");
                Value::Other
            }
        }
    }

    fn object(&mut self) -> Value {
        let mut fields = BTreeMap::new();
        if self.eat("}") {
            return Value::Object(fields);
        }
        loop {
            self.expect("\"");
            let name = self.string();
            self.expect(":");
            let value = self.value();
            let old = fields.insert(name, value);
            assert!(old.is_none(), "twice the same field: {old:?}");
            if !self.eat(",") {
                self.expect("}");
                return Value::Object(fields);
            }
        }
    }

    fn list(&mut self) -> Value {
        let mut items = Vec::new();
        if self.eat("]") {
            return Value::List(items);
        }
        loop {
            items.push(self.value());
            if !self.eat(",") {
                self.expect("]");
                return Value::List(items);
            }
        }
    }

    fn string(&mut self) -> String {
        let mut out = String::new();
        let mut chars = self.0.chars();
        loop {
            match chars.next().expect("a text that ends") {
                '"' => break,
                '\\' => match chars.next() {
                    Some('u') => {
                        let code: String = chars.by_ref().take(4).collect();
                        let code = u32::from_str_radix(&code, 16).unwrap();
                        out.push(char::from_u32(code).unwrap());
                    }
                    Some(c @ ('"' | '\\')) => out.push(c),
                    other => panic!("unknown escape {other:?}"),
                },
                c => {
                    assert!(!c.is_control(), "a control character in a text");
                    out.push(c);
                }
            }
        }
        self.0 = chars.as_str();
        out
    }
}

fn exported(format: Format, trace: detsim_executor::Trace) -> String {
    let options = ExportOptions { format, ..ExportOptions::default() };
    export(&Recorded { header: header(), trace }, &options)
}

#[test]
fn json_says_what_the_trace_says() {
    let trace = story(false);
    let text = exported(Format::Json, trace.clone());
    let file = Reader::read(&text);
    assert_eq!(file.get("seed").number(), header().seed);
    let events = file.get("events").list();
    assert_eq!(events.len(), trace.moments.len());
    for (event, moment) in events.iter().zip(&trace.moments) {
        assert_eq!(event.get("at_ns").number(), moment.at.as_nanos());
        assert_eq!(event.get("kind").text(), moment.event.kind().word());
        let said = event.get("text").text();
        assert_eq!(said, trace.tables.predicate(&moment.event).to_string());
    }
    let blocked = text.lines().find(|line| line.contains("blocked")).unwrap();
    expect![[r#"{"at_ns":1200150,"step":3,"kind":"blocked","task":1,"node":"b","text":"waits: lock on Mutex of src/pool.rs:12 at src/deeply/nested/module/with/a/long/path/pool.rs:88","operation":"lock","object":0,"resource":"Mutex","created_at":"src/pool.rs:12","site":"src/deeply/nested/module/with/a/long/path/pool.rs:88"},"#]].assert_eq(blocked);
}

#[test]
fn perfetto_has_a_thread_for_each_task_and_a_flow_for_each_message() {
    let text = exported(Format::Perfetto, story(false));
    let file = Reader::read(&text);
    let events = file.get("traceEvents").list();
    let count = |phase: &str| events.iter().filter(|e| e.get("ph").text() == phase).count();
    assert_eq!((count("s"), count("f")), (2, 2));
    let names: Vec<_> = events.iter().filter(|e| e.get("name").text() == "thread_name").collect();
    assert_eq!(names.len(), 3 + 2);
    let wait = text.lines().find(|line| line.contains("\"cat\":\"wait\"")).unwrap();
    expect![[r#"{"ph":"X","name":"waits: lock on Mutex of src/pool.rs:12 at src/deeply/nested/module/with/a/long/path/pool.rs:88","pid":2,"tid":2,"ts":1200.200,"dur":250500.000,"cat":"wait"},"#]].assert_eq(wait);
    let fault = text.lines().find(|line| line.contains("\"cat\":\"fault\"")).unwrap();
    expect![[r#"{"ph":"X","name":"partition a -> b (drops)","pid":1,"tid":0,"ts":1700.150,"dur":250000.000,"cat":"fault"},"#]].assert_eq(fault);
}

/// What stands between two marks of a page.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = page.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

fn data(page: &str) -> Value {
    Reader::read(between(page, "<script id=\"data\" type=\"application/json\">", "</script>"))
}

#[test]
fn the_page_holds_every_event_and_what_spans_them() {
    let trace = story(false);
    let page = exported(Format::Html, trace.clone());
    let data = data(&page);
    let events = data.get("events").list();
    assert_eq!(events.len(), trace.moments.len());
    for event in events {
        let [_, _, node, task, kind, mark, text] = event.list() else { panic!("{event:?}") };
        assert!(*node == Value::Other || node.number() < data.get("nodes").list().len() as u64);
        assert!(*task == Value::Other || task.number() < data.get("tasks").list().len() as u64);
        assert!(kind.number() < data.get("kinds").list().len() as u64 && mark.number() <= 2);
        assert!(!text.text().is_empty());
    }
    for (spans, count) in [("messages", 2), ("waits", 1), ("faults", 3)] {
        let spans = data.get(spans).list();
        assert_eq!(spans.len(), count, "{spans:?}");
        for span in spans {
            let (start, end) = (span.list()[0].number(), span.list()[1].number());
            assert!(start <= end && end < events.len() as u64);
        }
    }
}

#[test]
fn the_page_marks_the_decisions_that_the_minimised_run_keeps() {
    let minimized = Some(Recorded { header: header(), trace: story(true) });
    let options = ExportOptions { format: Format::Html, minimized, ..ExportOptions::default() };
    let page = export(&Recorded { header: header(), trace: story(false) }, &options);
    let data = data(&page);
    let marks = data.get("events").list().iter().map(|event| event.list()[5].number());
    assert_eq!(marks.filter(|mark| *mark > 0).collect::<Vec<_>>(), [1, 1, 2]);
}

#[test]
fn the_page_of_a_long_run_keeps_its_end() {
    let trace = long(5_000);
    let total = trace.moments.len() as u64;
    let options =
        ExportOptions { format: Format::Html, page_events: 1_000, ..ExportOptions::default() };
    let page = export(&Recorded { header: header(), trace }, &options);
    let data = data(&page);
    assert_eq!(data.get("events").list().len(), 1_000);
    assert_eq!(data.get("first").number(), total - 1_000);
    for name in ["messages", "waits"] {
        let spans = data.get(name).list();
        assert!(!spans.is_empty() && spans.iter().all(|span| span.list()[1].number() < 1_000));
    }
}

#[test]
fn the_page_needs_nothing_beside_itself() {
    let page = exported(Format::Html, story(false));
    // One for the data, one for the code: no text of the program has ended either.
    assert_eq!(page.matches("</script").count(), 2);
    for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!["/* data */", "/* style */", "/* script */"].iter().any(|hole| page.contains(hole)));
    let script = between(&page, "<script>", "</script>");
    for id in script.split("byId(\"").skip(1).filter_map(|rest| rest.split_once('"')) {
        assert!(page.contains(&format!("id=\"{}\"", id.0)), "{}", id.0);
    }
    for part in ["layout", "matches", "nextMatch", "zoom", "arrow", "spans", "describe"] {
        assert!(script.contains(&format!("function {part}(")), "{part}");
    }
    assert_balanced(script);
}

/// Every bracket of a script is closed, outside of texts and comments.
fn assert_balanced(script: &str) {
    let mut open = Vec::new();
    for line in script.lines() {
        let code = line.split("//").next().and_then(|code| code.split("/**").next());
        let mut text = None;
        for c in code.unwrap_or_default().chars() {
            match (c, text) {
                ('"' | '\'', None) => text = Some(c),
                (_, Some(quote)) if c == quote => text = None,
                (_, Some(_)) => {}
                ('(', _) => open.push(')'),
                ('[', _) => open.push(']'),
                ('{', _) => open.push('}'),
                (')' | ']' | '}', _) => assert_eq!(open.pop(), Some(c), "{line}"),
                _ => {}
            }
        }
        assert_eq!(text, None, "a text that does not end: {line}");
    }
    assert_eq!(open, []);
}
