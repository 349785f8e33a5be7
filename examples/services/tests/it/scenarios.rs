//! What is asked of each service, whatever the network does.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use services::chat::Guest;
use services::gossip::Peer;
use services::http::Message;
use services::{Bug, chat, http, rpc};
use tokio::join;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::world::{calm, listen, rough, spawn_on, udp};

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

/// What guests of a room hear is what guests said, line by line; once the network is well, everybody
/// hears everybody.
pub(crate) async fn chat(bug: Bug) {
    let (listener, room) = listen("room").await;
    let serving = spawn_on("room", async move { drop(tokio::spawn(chat::serve(listener, bug))) });
    serving.await;
    rough();
    join!(
        spawn_on("ann", visit(room, "ann")),
        spawn_on("bob", visit(room, "bob")),
        spawn_on("cid", visit(room, "cid")),
    );
    calm();
    let talk = || async {
        let (mut ann, mut bob) = (Guest::join(room).await?, Guest::join(room).await?);
        ann.say("ann 99").await?;
        while bob.hear().await?.expect("the room is open") != "ann 99" {}
        Ok(())
    };
    until_done(TRIES, talk).await.expect("the room is of no use when the network is well again");
}

/// A guest that says five things, comes back where it was cut off, and listens all the while.
async fn visit(room: SocketAddr, name: &str) {
    let mut said = 0;
    for _ in 0..TRIES {
        let Ok(Ok(mut guest)) = timeout(PATIENCE, Guest::join(room)).await else { continue };
        let mut heard = BTreeMap::new();
        while said < 5 {
            said += 1;
            let line = format!("{name} {said}");
            let Ok(Ok(())) = timeout(PATIENCE, guest.say(&line)).await else { break };
            if !hear_for(&mut guest, Duration::from_millis(100), &mut heard).await {
                break;
            }
        }
        if said == 5 {
            hear_for(&mut guest, Duration::from_secs(1), &mut heard).await;
            return;
        }
    }
}

/// Listens for a while; false where there is nobody to listen to any more.
async fn hear_for(guest: &mut Guest, time: Duration, heard: &mut BTreeMap<String, u32>) -> bool {
    let until = Instant::now() + time;
    loop {
        match timeout_at(until, guest.hear()).await {
            Err(_) => return true,
            Ok(Ok(Some(line))) => check_line(&line, heard),
            Ok(Ok(None) | Err(_)) => return false,
        }
    }
}

/// A line is what somebody said, and later than what they said before.
fn check_line(line: &str, heard: &mut BTreeMap<String, u32>) {
    let said = line.split_once(' ').filter(|(name, _)| ["ann", "bob", "cid"].contains(name));
    let said = said.and_then(|(name, number)| Some((name, number.parse::<u32>().ok()?)));
    let (name, number) = said.unwrap_or_else(|| panic!("nobody said {line:?}"));
    let before = heard.insert(name.to_owned(), number).unwrap_or(0);
    assert!((1..=5).contains(&number) && number > before, "{name} said {number} after {before}");
}

/// A server that ends the stream has answered everything.
pub(crate) async fn rpc(bug: Bug) {
    let (listener, server) = listen("server").await;
    let serving = spawn_on("server", async move { drop(tokio::spawn(rpc::serve(listener, bug))) });
    serving.await;
    rough();
    let client = |count: u64| async move {
        let numbers: Vec<u64> = (0..count).collect();
        let answers = until_done(TRIES, || rpc::call_all(server, &numbers)).await;
        answers.inspect(|answers| check_answers(&numbers, answers)).is_some()
    };
    join!(spawn_on("ann", client(40)), spawn_on("bob", client(7)));
    calm();
    assert!(spawn_on("ann", client(20)).await, "no answer when the network is well again");
}

fn check_answers(numbers: &[u64], answers: &BTreeMap<u32, u64>) {
    assert_eq!(answers.len(), numbers.len(), "calls without an answer at the end of the stream");
    for (id, answer) in answers {
        assert_eq!(*answer, numbers[*id as usize].pow(2), "call {id}");
    }
}

/// A server that ends the stream has answered everything, in order.
pub(crate) async fn http(bug: Bug) {
    let (listener, server) = listen("server").await;
    let serving = spawn_on("server", async move { drop(tokio::spawn(http::serve(listener, bug))) });
    serving.await;
    rough();
    let client = |count: usize| async move {
        let requests = requests(count);
        let answers = until_done(TRIES, || http::fetch_all(server, &requests)).await;
        answers.inspect(|answers| check_responses(&requests, answers)).is_some()
    };
    join!(spawn_on("ann", client(6)), spawn_on("bob", client(3)));
    calm();
    assert!(spawn_on("ann", client(5)).await, "no answer when the network is well again");
}

/// `GET` and `POST` by turns; the last one closes.
fn requests(count: usize) -> Vec<Message> {
    let request = |n: usize| {
        let closes = n + 1 == count;
        match n % 2 {
            0 => Message { start: format!("GET /{n} HTTP/1.1"), body: Vec::new(), closes },
            _ => Message { start: "POST / HTTP/1.1".to_owned(), body: vec![b'x'; 300 * n], closes },
        }
    };
    (0..count).map(request).collect()
}

fn check_responses(requests: &[Message], answers: &[Message]) {
    let bodies: Vec<&[u8]> = answers.iter().map(|answer| &*answer.body).collect();
    assert!(answers.iter().all(|a| a.start == "HTTP/1.1 200 OK"), "a request was not understood");
    let wanted = |(n, request): (usize, &Message)| match n % 2 {
        0 => format!("/{n}").into_bytes(),
        _ => request.body.clone(),
    };
    let wanted: Vec<Vec<u8>> = requests.iter().enumerate().map(wanted).collect();
    assert_eq!(bodies, wanted, "a request without its answer at the end of the stream");
}

/// Nobody ever counts more than was cast; once the network is well, everybody counts all of it.
pub(crate) async fn gossip(bug: Bug) {
    const NAMES: [&str; 4] = ["ann", "bob", "cid", "dan"];
    let mut sockets = Vec::new();
    for name in NAMES {
        sockets.push(udp(name).await);
    }
    let addresses: Vec<SocketAddr> = sockets.iter().map(|(_, address)| *address).collect();
    let mut peers = Vec::new();
    for (name, (socket, own)) in NAMES.into_iter().zip(sockets) {
        let others: Vec<SocketAddr> = addresses.iter().copied().filter(|a| *a != own).collect();
        let peer = Peer::new(&others, bug);
        peers.push(peer.clone());
        spawn_on(name, async move { drop(tokio::spawn(peer.run(socket))) }).await;
    }
    rough();
    let mut cast = 0;
    for round in 1..=5 {
        for peer in &peers {
            peer.cast(round);
            cast += u64::from(round);
        }
        sleep(Duration::from_millis(200)).await;
        assert!(peers.iter().all(|peer| peer.total() <= cast), "more votes than were cast");
    }
    calm();
    let totals = || peers.iter().map(Peer::total).collect::<Vec<u64>>();
    let until = Instant::now() + Duration::from_secs(10);
    while totals() != [cast; 4] && Instant::now() < until {
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(totals(), [cast; 4], "not everybody counts what was cast");
}
