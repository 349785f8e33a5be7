//! What waits for a runtime that has been shut down is told so, in tokio's words.

use detsim_shim_tokio as tokio;
use std::future::Future;
use std::io::Write;
use std::os::unix::net::UnixStream as StdStream;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use tokio::io::AsyncReadExt;
use tokio::io::unix::AsyncFd;
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::runtime::{Builder, Runtime, is_rt_shutdown_err};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[derive(Default)]
struct Count(AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn who_waits_for_a_socket_is_woken() {
    let first = runtime();
    let listener = first.block_on(async { TcpListener::bind("127.0.0.1:0").await.unwrap() });
    let (count, mut accept) = (Arc::new(Count::default()), pin!(listener.accept()));
    let waker = Waker::from(Arc::clone(&count));
    let mut cx = Context::from_waker(&waker);
    assert!(accept.as_mut().poll(&mut cx).is_pending());
    drop(first);
    assert_eq!(count.0.load(Relaxed), 1);
    let Poll::Ready(Err(error)) = accept.poll(&mut cx) else { panic!("it waits for nothing") };
    assert!(is_rt_shutdown_err(&error), "{error}");
    let error = runtime().block_on(async { listener.accept().await.unwrap_err() });
    assert!(is_rt_shutdown_err(&error), "{error}");
}

#[test]
fn calls_that_do_not_wait_go_on() {
    let first = runtime();
    let (mut client, server) = first.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        server.writable().await.unwrap();
        assert_eq!(server.try_write(b"hello").unwrap(), 5);
        client.readable().await.unwrap();
        (client, server)
    });
    drop((first, server));
    assert_eq!(client.try_read(&mut [0; 5]).unwrap(), 5);
    let error = runtime().block_on(async { client.read(&mut [0; 5]).await.unwrap_err() });
    assert!(is_rt_shutdown_err(&error), "{error}");
}

#[test]
fn nothing_is_opened_for_it() {
    let first = runtime();
    let handle = first.handle().clone();
    let (a, _b) = StdStream::pair().unwrap();
    drop(first);
    let _entered = handle.enter();
    let second = runtime();
    let errors = second.block_on(async {
        let _entered = handle.enter();
        let bound = UdpSocket::bind("127.0.0.1:0").await.unwrap_err();
        [bound, TcpListener::bind("127.0.0.1:0").await.unwrap_err()]
    });
    assert!(errors.iter().all(is_rt_shutdown_err), "{errors:?}");
    #[expect(deprecated, reason = "the form that every tokio 1 has")]
    let error = AsyncFd::new(a).unwrap_err();
    assert!(is_rt_shutdown_err(&error), "{error}");
}

#[test]
fn who_waits_for_a_descriptor_is_woken() {
    let first = runtime();
    let (a, _b) = StdStream::pair().unwrap();
    #[expect(deprecated, reason = "the form that every tokio 1 has")]
    let fd = first.block_on(async { AsyncFd::new(a).unwrap() });
    let (count, mut readable) = (Arc::new(Count::default()), pin!(fd.readable()));
    let waker = Waker::from(Arc::clone(&count));
    let mut cx = Context::from_waker(&waker);
    assert!(readable.as_mut().poll(&mut cx).is_pending());
    drop(first);
    assert_eq!(count.0.load(Relaxed), 1);
    let Poll::Ready(Err(error)) = readable.poll(&mut cx) else { panic!("it waits for nothing") };
    assert!(is_rt_shutdown_err(&error), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn calls_on_files_fail_and_leave_the_file_as_it_is() {
    use tokio::fs::File;
    use tokio::io::AsyncWriteExt;
    let (first, second) = (runtime(), runtime());
    let mut file = second.block_on(async {
        let mut file = File::create_new("/tmp/gone").await.unwrap();
        file.set_max_buf_size(128);
        assert_eq!(file.try_clone().await.unwrap().max_buf_size(), 128);
        file
    });
    let handle = first.handle().clone();
    drop(first);
    second.block_on(async {
        let _entered = handle.enter();
        assert_eq!(file.set_len(3).await.unwrap_err().to_string(), "background task failed");
    });
    second.block_on(async {
        file.write_all(b"hello").await.unwrap();
        file.flush().await.unwrap();
        assert_eq!(file.metadata().await.unwrap().len(), 5);
    });
}

#[test]
fn a_run_waits_for_who_writes_from_outside() {
    let (a, mut b) = StdStream::pair().unwrap();
    a.set_nonblocking(true).unwrap();
    let (go, goes) = std::sync::mpsc::channel();
    let writer = std::thread::spawn(move || {
        goes.recv().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(30));
        b.write_all(b"x").unwrap();
    });
    let sim = detsim_executor::Sim::new(1);
    let read = sim.block_on(async move {
        #[expect(deprecated, reason = "the form that every tokio 1 has")]
        let fd = AsyncFd::new(a).unwrap();
        go.send(()).unwrap();
        fd.async_io(tokio::io::Interest::READABLE, |mut a| std::io::Read::read(&mut a, &mut [0; 5]))
            .await
    });
    assert_eq!(read.unwrap().unwrap(), 1);
    writer.join().unwrap();
}
