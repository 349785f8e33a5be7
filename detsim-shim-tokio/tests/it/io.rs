//! Streams in memory, standard streams, and readers and writers that are always ready.
#![cfg(feature = "io-util")]

use crate::{fifo, in_order, sweep};
use detsim_shim_tokio as tokio;
use expect_test::expect;
use futures::FutureExt;
use std::io::IoSlice;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, duplex, empty, repeat, simplex, sink};
use tokio::task::yield_now;

#[test]
fn bytes_arrive_in_order_however_little_room_there_is() {
    sweep(50, || async {
        let (mut here, mut there) = duplex(3);
        let writer = tokio::spawn(async move {
            here.write_all(b"hello, world").await.unwrap();
            let mut answer = String::new();
            here.read_to_string(&mut answer).await.unwrap();
            answer
        });
        let mut text = [0; 12];
        there.read_exact(&mut text).await.unwrap();
        assert_eq!(&text, b"hello, world");
        there.write_all(b"bye").await.unwrap();
        drop(there);
        assert_eq!(writer.await.unwrap(), "bye");
    });
}

#[test]
fn an_end_that_is_gone_ends_reads_and_fails_writes() {
    in_order(async {
        let (mut here, there) = duplex(3);
        let (written, ()) = tokio::join!(here.write_all(b"too long"), async { drop(there) });
        assert_eq!(written.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
        assert_eq!(here.read(&mut [0; 4]).await.unwrap(), 0);
    });
}

#[test]
fn a_stream_of_one_direction_takes_several_buffers_at_a_time() {
    in_order(async {
        let (mut reader, mut writer) = simplex(4);
        let bufs = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")];
        assert_eq!(writer.write_vectored(&bufs).await.unwrap(), 4);
        assert!(writer.write(b"e").now_or_never().is_none());
        let mut buf = [0; 8];
        assert_eq!(reader.read(&mut buf).await.unwrap(), 4);
        assert_eq!(&buf[..4], b"abcd");
        writer.shutdown().await.unwrap();
        assert_eq!(reader.read(&mut buf).await.unwrap(), 0);
    });
}

#[test]
fn a_read_that_nobody_writes_for_is_reported() {
    let sim = fifo();
    let read = async {
        let (mut here, mut there) = duplex(3);
        there.write_all(b"a").await.unwrap();
        drop(here.read_exact(&mut [0; 2]).await);
    };
    let failure = sim.block_on(read).unwrap_err();
    let text = failure.to_string();
    let waits: Vec<&str> = text.lines().skip(2).take(3).map(str::trim).collect();
    expect![[r#"
        waits: recv at detsim-shim-tokio/tests/it/io.rs:60
        for the stream of detsim-shim-tokio/tests/it/io.rs:60, since step 1
        last sent to by task 0 "main" at detsim-shim-tokio/tests/it/io.rs:60"#]]
    .assert_eq(&waits.join("\n"));
}

#[test]
fn a_task_that_only_does_what_is_always_ready_lets_others_run() {
    in_order(async {
        let busy = async {
            loop {
                let mut buf = [0; 2];
                repeat(1).read_exact(&mut buf).await.unwrap();
                assert_eq!(empty().read(&mut buf).await.unwrap(), 0);
                sink().write_all(&buf).await.unwrap();
            }
        };
        tokio::select! { biased; () = busy => {}, () = yield_now() => {} }
        tokio::select! { biased;
            _ = async { copy(&mut repeat(1), &mut sink()).await } => {},
            () = yield_now() => {}
        }
    });
}

#[cfg(feature = "io-std")]
#[test]
fn the_standard_streams_need_no_runtime() {
    futures::executor::block_on(async {
        tokio::io::stdout().write_all(b"").await.unwrap();
        tokio::io::stderr().flush().await.unwrap();
    });
}
