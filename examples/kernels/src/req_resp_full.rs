//! A client pushes all its requests before it reads the first reply, over channels shorter than that.
//!
//! Works with few requests, and with room for many. The server is right.

use tokio::sync::mpsc;

/// What fits into each channel.
const QUEUED_MAX: usize = 2;
/// Requests of the client: more than both channels and the server's hands hold.
const REQUESTS: u64 = 6;

/// Answers every request with its square.
async fn serve(mut requests: mpsc::Receiver<u64>, replies: mpsc::Sender<u64>) {
    while let Some(request) = requests.recv().await {
        replies.send(request * request).await.expect("the client reads to the end");
    }
}

async fn read(mut replies: mpsc::Receiver<u64>) -> u64 {
    let mut sum = 0;
    while let Some(reply) = replies.recv().await {
        sum += reply;
    }
    sum
}

async fn send(requests: mpsc::Sender<u64>) {
    for request in 0..REQUESTS {
        requests.send(request).await.expect("the server reads to the end");
    }
}

/// Both sides wait for room that only the other one makes.
pub async fn buggy() {
    let (requests, to_serve) = mpsc::channel(QUEUED_MAX);
    let (replies, to_read) = mpsc::channel(QUEUED_MAX);
    let server = tokio::spawn(serve(to_serve, replies));
    send(requests).await;
    assert_eq!(read(to_read).await, 55);
    server.await.expect("the server does not panic");
}

/// Requests are sent by one task and replies read by another.
pub async fn fixed() {
    let (requests, to_serve) = mpsc::channel(QUEUED_MAX);
    let (replies, to_read) = mpsc::channel(QUEUED_MAX);
    let server = tokio::spawn(serve(to_serve, replies));
    let sender = tokio::spawn(send(requests));
    assert_eq!(read(to_read).await, 55);
    sender.await.expect("the sender does not panic");
    server.await.expect("the server does not panic");
}
