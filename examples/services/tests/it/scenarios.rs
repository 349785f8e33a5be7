//! What is asked of each service, whatever befalls its network and its nodes.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use services::chat::Guest;
use services::gossip::Peer;
use services::http::Message;
use services::{Bug, chat, http, rpc};
use tokio::join;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::world::{Weather, begin, calm, join_on, listen, udp};

/// How long a client waits before it takes its server for gone.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a client goes on where nothing works: an answer that is lost is no mistake of a service.
const TRIES: u32 = 4;

/// Runs it again and again, until it comes to an end in time and without an error.
async fn until_done<T, F: Future<Output = std::io::Result<T>>>(
    tries: u32,
    call: impl Fn() -> F,
) -> Option<T> {
    for _ in 0..tries {
        if let Ok(Ok(done)) = timeout(PATIENCE, call()).await {
            return Some(done);
        }
        sleep(Duration::from_millis(300)).await;
    }
    None
}

/// What guests of a room hear is what guests said, line by line, all of it and in one order for all of them,
/// for as long as they are in one room; once all is well, everybody hears everybody.
pub(crate) async fn chat(bug: Bug, weather: Weather) {
    let room = listen("room", move |listener| chat::serve(listener, bug)).await;
    let environment = begin(weather);
    let stays = Stays::default();
    join!(
        join_on("ann", visit(room, "ann", Arc::clone(&stays))),
        join_on("bob", visit(room, "bob", Arc::clone(&stays))),
        join_on("cid", visit(room, "cid", Arc::clone(&stays))),
    );
    calm(environment);
    check_stays(&stays.lock().unwrap());
    let talk = || async {
        let (mut ann, mut bob) = (Guest::join(room).await?, Guest::join(room).await?);
        ann.say("ann 99 1").await?;
        while bob.hear().await?.ok_or(std::io::ErrorKind::UnexpectedEof)? != "ann 99 1" {}
        Ok(())
    };
    until_done(TRIES, talk).await.expect("the room is of no use when all is well again");
}

/// What guests heard, from when they came in to when they were gone, in turn.
type Stays = Arc<Mutex<Vec<Vec<String>>>>;

/// A guest that says five things, each of them until it hears it itself, and listens all the while.
async fn visit(room: SocketAddr, name: &str, stays: Stays) {
    let (mut said, mut tries) = (0, 0);
    for _ in 0..2 * TRIES {
        let Ok(Ok(mut guest)) = timeout(PATIENCE, Guest::join(room)).await else {
            sleep(Duration::from_millis(300)).await;
            continue;
        };
        let mut heard = Vec::new();
        while said < 5 {
            tries += 1;
            let line = format!("{name} {} {tries}", said + 1);
            let Ok(Ok(())) = timeout(PATIENCE, guest.say(&line)).await else { break };
            if !hear_until(&mut guest, PATIENCE, Some(&line), &mut heard).await {
                break;
            }
            said += 1;
            hear_until(&mut guest, Duration::from_millis(200), None, &mut heard).await;
        }
        if said == 5 {
            hear_until(&mut guest, Duration::from_secs(1), None, &mut heard).await;
        }
        stays.lock().unwrap().push(heard);
        if said == 5 {
            return;
        }
    }
}

/// Listens for a while, or until a line is heard: whether it was.
async fn hear_until(
    guest: &mut Guest,
    time: Duration,
    awaited: Option<&str>,
    heard: &mut Vec<String>,
) -> bool {
    let until = Instant::now() + time;
    while let Ok(Ok(Some(line))) = timeout_at(until, guest.hear()).await {
        check_line(&line);
        let is_awaited = awaited == Some(&line);
        heard.push(line);
        if is_awaited {
            return true;
        }
    }
    false
}

/// A line is what somebody said.
fn check_line(line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |word: &str| word.parse::<u32>().ok();
    let is_said = match words[..] {
        [name, said, tries] => {
            let said = number(said).is_some_and(|said| (1..=5).contains(&said));
            ["ann", "bob", "cid"].contains(&name) && said && number(tries).is_some()
        }
        _ => false,
    };
    assert!(is_said, "nobody said {line:?}");
}

/// Every line is another; so who heard the same line was in the same room, and heard the same before and
/// after it.
fn check_stays(stays: &[Vec<String>]) {
    for (at, one) in stays.iter().enumerate() {
        for other in &stays[at + 1..] {
            let shared = one.iter().enumerate().find_map(|(here, line)| {
                other.iter().position(|known| known == line).map(|there| (here, there))
            });
            let Some((here, there)) = shared else { continue };
            let back = here.min(there);
            let (one, other) = (&one[here - back..], &other[there - back..]);
            let both = one.len().min(other.len());
            assert_eq!(one[..both], other[..both], "two guests of a room heard different things");
        }
    }
}

/// Every payment that was answered was carried out once.
pub(crate) async fn rpc(bug: Bug, weather: Weather) {
    let server = listen("server", move |listener| rpc::serve(listener, bug)).await;
    let environment = begin(weather);
    let pay = move |client: u32, count: u64| async move {
        let amounts: Vec<u64> = (1..=count).collect();
        let paid = until_done(TRIES, || rpc::call_all(server, client, &amounts)).await;
        paid.inspect(|balances| check_balances(&amounts, balances)).is_some()
    };
    let pay_often = move |client: u32, count: u64| async move {
        for time in 0..8 {
            pay(client + time, count).await;
            sleep(Duration::from_millis(200)).await;
        }
    };
    join!(join_on("ann", pay_often(100, 40)), join_on("bob", pay_often(200, 7)));
    calm(environment);
    assert!(join_on("ann", pay(300, 20)).await, "no answer when all is well again");
}

/// In whatever order payments were carried out, the last of them left what all of them come to.
fn check_balances(amounts: &[u64], balances: &BTreeMap<u32, u64>) {
    let (all, last) = (amounts.iter().sum::<u64>(), balances.values().max());
    assert_eq!(last, Some(&all), "an account holds something else than was paid into it");
}

/// Answers are those to the requests, in order, and whole.
pub(crate) async fn http(bug: Bug, weather: Weather) {
    let server = listen("server", http::serve).await;
    let environment = begin(weather);
    let fetch = move |count: usize| async move {
        let requests = requests(count);
        let answers = until_done(TRIES, || http::fetch_all(server, &requests, bug)).await;
        answers.inspect(|answers| check_responses(&requests, answers)).is_some()
    };
    let fetch_often = move |count: usize| async move {
        for _ in 0..8 {
            fetch(count).await;
            sleep(Duration::from_millis(200)).await;
        }
    };
    join!(join_on("ann", fetch_often(6)), join_on("bob", fetch_often(3)));
    calm(environment);
    assert!(join_on("ann", fetch(5)).await, "no answer when all is well again");
}

/// `GET` and `POST` by turns; the last one closes.
fn requests(count: usize) -> Vec<Message> {
    let request = |n: usize| {
        let closes = n + 1 == count;
        match n % 2 {
            0 => Message { start: format!("GET /{n} HTTP/1.1"), body: Vec::new(), closes },
            _ => Message { start: "POST / HTTP/1.1".to_owned(), body: vec![b'x'; 900 * n], closes },
        }
    };
    (0..count).map(request).collect()
}

fn check_responses(requests: &[Message], answers: &[Message]) {
    assert!(answers.iter().all(|a| a.start == "HTTP/1.1 200 OK"), "a request was not understood");
    let wanted = |(n, request): (usize, &Message)| match n % 2 {
        0 => format!("/{n}").into_bytes(),
        _ => request.body.clone(),
    };
    let wanted: Vec<Vec<u8>> = requests.iter().enumerate().map(wanted).collect();
    for (wanted, answer) in wanted.iter().zip(answers) {
        let (bytes, all) = (answer.body.len(), wanted.len());
        assert_eq!(bytes, all, "an answer of which a part is missing");
        assert!(answer.body == *wanted, "the answer to another request");
    }
}

/// Nobody ever counts more than was cast; once all is well, everybody counts all of it.
pub(crate) async fn gossip(bug: Bug, weather: Weather) {
    const NAMES: [&str; 4] = ["ann", "bob", "cid", "dan"];
    let peers: Arc<Mutex<BTreeMap<usize, Peer>>> = Arc::default();
    let known = Arc::clone(&peers);
    let new = move |number: usize, socket, addresses: Vec<SocketAddr>| {
        let mut others = addresses;
        others.remove(number);
        let peer = Peer::new(number as u8, &others, bug);
        known.lock().unwrap().insert(number, peer.clone());
        peer.run(socket)
    };
    udp(&NAMES, new).await;
    sleep(Duration::from_millis(200)).await;
    let cast = |round: u32| {
        peers.lock().unwrap().values().for_each(|peer| peer.cast(round, round));
    };
    let totals = || peers.lock().unwrap().values().map(Peer::total).collect::<Vec<u64>>();
    let environment = begin(weather);
    let mut all = 0;
    for round in 1..=10 {
        cast(round);
        all += 4 * u64::from(round);
        sleep(Duration::from_millis(200)).await;
        assert!(totals().iter().all(|total| *total <= all), "more votes than were cast");
    }
    calm(environment);
    // What was cast at a peer that died is said again: nobody has confirmed it.
    let until = Instant::now() + Duration::from_secs(30);
    while totals() != [all; 4] && Instant::now() < until {
        (1..=10).for_each(cast);
        sleep(Duration::from_millis(500)).await;
        assert!(totals().iter().all(|total| *total <= all), "more votes than were cast");
    }
    assert_eq!(totals(), [all; 4], "not everybody counts what was cast");
}
