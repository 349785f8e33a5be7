//! Runtimes: every method, by its type.
#![expect(dead_code, reason = "it is compiled, not called")]
#![expect(clippy::let_underscore_future, reason = "handles are only looked at")]

use super::tokio;
use std::io;
use std::time::Duration;
use tokio::runtime::*;
use tokio::task::JoinHandle;

type Setter<T> = fn(&mut Builder, T) -> &mut Builder;

pub(in crate::parity) fn builder(builder: &mut Builder) {
    let _: fn() -> Builder = Builder::new_current_thread;
    let _: fn() -> Builder = Builder::new_multi_thread;
    let _: fn(&mut Builder) -> &mut Builder = Builder::enable_all;
    let _: fn(&mut Builder) -> &mut Builder = Builder::enable_io;
    let _: fn(&mut Builder) -> &mut Builder = Builder::enable_time;
    let _: Setter<usize> = Builder::worker_threads;
    let _: Setter<usize> = Builder::max_blocking_threads;
    let _: Setter<usize> = Builder::thread_stack_size;
    let _: Setter<usize> = Builder::max_io_events_per_tick;
    let _: Setter<u32> = Builder::global_queue_interval;
    let _: Setter<u32> = Builder::event_interval;
    let _: Setter<Duration> = Builder::thread_keep_alive;
    let _: Setter<bool> = Builder::start_paused;
    let _: Setter<fn()> = Builder::on_thread_start::<fn()>;
    let _: Setter<fn()> = Builder::on_thread_stop::<fn()>;
    let _: Setter<fn()> = Builder::on_thread_park::<fn()>;
    let _: Setter<fn()> = Builder::on_thread_unpark::<fn()>;
    let _: Setter<fn() -> String> = Builder::thread_name_fn::<fn() -> String>;
    let _: &mut Builder = builder.thread_name("name").name(String::from("name"));
    let _: fn(&mut Builder) -> io::Result<Runtime> = Builder::build;
    let _: fn(&mut Builder, LocalOptions) -> io::Result<LocalRuntime> = Builder::build_local;
}

pub(in crate::parity) fn owner(runtime: Runtime, local: LocalRuntime) {
    let _: fn() -> io::Result<Runtime> = Runtime::new;
    let _: fn(&Runtime) -> &Handle = Runtime::handle;
    let _: fn(&Runtime) -> EnterGuard<'_> = Runtime::enter;
    let _: fn(&Runtime) -> RuntimeMetrics = Runtime::metrics;
    let _: fn(Runtime) = Runtime::shutdown_background;
    let _: fn(Runtime, Duration) = Runtime::shutdown_timeout;
    let _: JoinHandle<u8> = runtime.spawn(async { 1 });
    let _: JoinHandle<u8> = runtime.spawn_blocking(|| 1);
    let _: u8 = runtime.block_on(async { 1 });
    let _: fn() -> io::Result<LocalRuntime> = LocalRuntime::new;
    let _: fn(&LocalRuntime) -> &Handle = LocalRuntime::handle;
    let _: fn(&LocalRuntime) -> EnterGuard<'_> = LocalRuntime::enter;
    let _: fn(&LocalRuntime) -> RuntimeMetrics = LocalRuntime::metrics;
    let _: fn(LocalRuntime) = LocalRuntime::shutdown_background;
    let _: fn(LocalRuntime, Duration) = LocalRuntime::shutdown_timeout;
    let _: JoinHandle<std::rc::Rc<u8>> = local.spawn_local(async { std::rc::Rc::new(1) });
    let _: JoinHandle<u8> = local.spawn_blocking(|| 1);
    let _: u8 = local.block_on(async { 1 });
}

pub(in crate::parity) fn handle(handle: &Handle) {
    let _: fn() -> Handle = Handle::current;
    let _: fn() -> Result<Handle, TryCurrentError> = Handle::try_current;
    let _: fn(&Handle) -> EnterGuard<'_> = Handle::enter;
    let _: fn(&Handle) -> RuntimeFlavor = Handle::runtime_flavor;
    let _: fn(&Handle) -> Id = Handle::id;
    let _: fn(&Handle) -> Option<&str> = Handle::name;
    let _: fn(&Handle) -> RuntimeMetrics = Handle::metrics;
    let _: JoinHandle<u8> = handle.spawn(async { 1 });
    let _: JoinHandle<u8> = handle.spawn_blocking(|| 1);
    let _: u8 = handle.block_on(async { 1 });
    let _: [RuntimeFlavor; 2] = [RuntimeFlavor::CurrentThread, RuntimeFlavor::MultiThread];
    let _: fn(&TryCurrentError) -> bool = TryCurrentError::is_missing_context;
    let _: fn(&TryCurrentError) -> bool = TryCurrentError::is_thread_local_destroyed;
    let _: fn(&io::Error) -> bool = is_rt_shutdown_err;
    let _: fn() -> Option<usize> = worker_index;
}

pub(in crate::parity) fn metrics() {
    let _: fn(&RuntimeMetrics) -> usize = RuntimeMetrics::num_workers;
    let _: fn(&RuntimeMetrics) -> usize = RuntimeMetrics::num_alive_tasks;
    let _: fn(&RuntimeMetrics) -> usize = RuntimeMetrics::global_queue_depth;
    let _: fn(&RuntimeMetrics, usize) -> Duration = RuntimeMetrics::worker_total_busy_duration;
    let _: fn(&RuntimeMetrics, usize) -> u64 = RuntimeMetrics::worker_park_count;
    let _: fn(&RuntimeMetrics, usize) -> u64 = RuntimeMetrics::worker_park_unpark_count;
}
