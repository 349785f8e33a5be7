//! What a call does where nothing is odd is what it does by the long way.

use std::time::Duration;

use detsim_executor::{RunHash, SimTime, Trace, context, sleep_until};
use detsim_net::{NetFaults, Sockets};

use crate::tcp::{Pair, accept, connect, listen, read, write};

#[derive(Clone, Copy, Debug)]
enum Conditions {
    Calm,
    Fair,
    Rough,
}

#[derive(Debug, PartialEq)]
struct Run {
    heard: Result<Vec<u8>, String>,
    trace: Trace,
    now: SimTime,
    hash: RunHash,
}

/// Messages of all sizes and their echoes, a half-close, and what a reset makes of them.
async fn talk(messages: usize) -> Vec<u8> {
    let (mut heard, mut buffer) = (Vec::new(), vec![0; 70_000]);
    let Ok(socket) = connect().await else { return heard };
    for n in 0..messages {
        let size = [1, 64, 3_000, 200_000][n % 4] + n;
        let message: Vec<u8> = (0..size).map(|byte| (byte + n) as u8).collect();
        if write(&socket, &message).await.is_err() {
            return heard;
        }
        let (mut missing, most) = (size, 1 + 977 * n % 70_000);
        while missing > 0 {
            let room = most.min(missing);
            match read(&socket, &mut buffer[..room]).await {
                Err(_) | Ok(0) => return heard,
                Ok(bytes) => {
                    heard.extend_from_slice(&buffer[..bytes.min(3)]);
                    missing -= bytes;
                }
            }
        }
    }
    heard
}

async fn echo() {
    let listener = listen();
    loop {
        let socket = accept(&listener).await;
        drop(context::spawn("echo", async move {
            let mut buffer = [0; 5_000];
            while let Ok(bytes @ 1..) = read(&socket, &mut buffer).await {
                if write(&socket, &buffer[..bytes]).await.is_err() {
                    return;
                }
            }
            let _ended = socket.shutdown();
        }));
    }
}

fn run(seed: u64, conditions: Conditions, (usual, record): (bool, bool)) -> Run {
    let pair = Pair::recorded(seed, record);
    let calm = NetFaults { short_rate: Some(0.0), ..NetFaults::default() };
    match conditions {
        Conditions::Calm => pair.net.set_faults(&calm),
        Conditions::Fair => {}
        Conditions::Rough => drop(pair.net.draw_faults()),
    }
    if !usual {
        Sockets::of(&pair.sim).set_unusual();
    }
    drop(pair.sim.node("server").spawn("server", echo()));
    let client = pair.sim.node("client").spawn("client", async {
        sleep_until(context::now() + Duration::from_millis(1)).await;
        let others = [3, 5].map(|messages| context::spawn("other", talk(messages)));
        let mut heard = talk(8).await;
        for other in others {
            heard.extend(other.await.unwrap());
        }
        heard
    });
    // An end that is reset alone, by a fault, leaves its peer waiting for good: the same one both ways.
    let heard = pair.sim.block_on(async move { client.await.unwrap() });
    // The stacks in the report are those of the two ways.
    let heard = heard.map_err(|failure| failure.to_string().lines().take(1).collect());
    Run { heard, trace: pair.sim.trace(), now: pair.sim.now(), hash: pair.sim.hash() }
}

#[test]
fn usual_calls_do_what_the_long_way_does() {
    for conditions in [Conditions::Calm, Conditions::Fair, Conditions::Rough] {
        for seed in 0..40 {
            let [usual, unusual] = [true, false].map(|usual| run(seed, conditions, (usual, true)));
            assert_eq!(usual.heard, unusual.heard, "seed {seed}, {conditions:?}");
            assert!(usual == unusual, "seed {seed}, {conditions:?}: the traces differ");
            let [usual, unusual] = [true, false].map(|usual| run(seed, conditions, (usual, false)));
            assert_eq!(usual, unusual, "seed {seed}, {conditions:?}, not recorded");
        }
    }
    assert!(run(1, Conditions::Calm, (true, true)).heard.unwrap().len() > 48);
}
