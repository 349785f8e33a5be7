//! One program, two worlds: what it sees on real loopback with tokio, it sees on the simulated one,
//! whatever the seed. The outcome of a program is the text it writes down: results, errno and order of
//! its calls.
#![cfg(detsim)]
#![expect(clippy::duplicate_mod, reason = "the same programs over two tokios are what is tested")]

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

/// What a program saw.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    fn add(&self, what: impl Display) {
        self.0.borrow_mut().push(what.to_string());
    }

    /// A result: the value, or the errno.
    fn result<T: Display>(&self, call: &str, result: std::io::Result<T>) -> Option<T> {
        match result {
            Ok(value) => {
                self.add(format!("{call}: {value}"));
                Some(value)
            }
            Err(error) => {
                // tokio says this one by itself, without asking the kernel.
                let blocks = error.kind() == std::io::ErrorKind::WouldBlock;
                let code = error.raw_os_error().filter(|_| !blocks);
                let what = code.map_or_else(|| format!("{:?}", error.kind()), |c| c.to_string());
                self.add(format!("{call}: error {what}"));
                None
            }
        }
    }

    /// A result whose value says nothing.
    fn done<T>(&self, call: &str, result: std::io::Result<T>) -> Option<T> {
        let mut value = None;
        self.result(
            call,
            result.map(|v| {
                value = Some(v);
                "ok"
            }),
        );
        value
    }

    fn text(&self) -> String {
        self.0.borrow().join("\n")
    }
}

/// The programs, over one tokio or the other.
macro_rules! world {
    ($name:ident, $tokio:path) => {
        #[path = "."]
        mod $name {
            use crate::Log;
            use $tokio as tokio;
            #[cfg(target_os = "linux")]
            #[path = "descriptors.rs"]
            pub(crate) mod descriptors;
            #[cfg(target_os = "linux")]
            #[path = "every_option.rs"]
            pub(crate) mod every_option;
            #[cfg(target_os = "linux")]
            #[path = "foreign.rs"]
            pub(crate) mod foreign;
            #[path = "hostile.rs"]
            pub(crate) mod hostile;
            #[path = "newcomers.rs"]
            pub(crate) mod newcomers;
            #[cfg(target_os = "linux")]
            #[path = "of_mio.rs"]
            pub(crate) mod of_mio;
            #[cfg(target_os = "linux")]
            #[path = "of_std.rs"]
            pub(crate) mod of_std;
            #[cfg(target_os = "linux")]
            #[path = "options.rs"]
            pub(crate) mod options;
            #[cfg(target_os = "linux")]
            #[path = "ports.rs"]
            pub(crate) mod ports;
            #[cfg(target_os = "linux")]
            #[path = "shut.rs"]
            pub(crate) mod shut;
            #[path = "tcp.rs"]
            pub(crate) mod tcp;
            #[path = "udp.rs"]
            pub(crate) mod udp;
            #[path = "unix.rs"]
            pub(crate) mod unix;
            #[cfg(target_os = "linux")]
            #[path = "unix_files.rs"]
            pub(crate) mod unix_files;
            #[cfg(target_os = "linux")]
            #[path = "unix_names.rs"]
            pub(crate) mod unix_names;
            #[cfg(target_os = "linux")]
            #[path = "unix_std.rs"]
            pub(crate) mod unix_std;
            #[path = "untold.rs"]
            pub(crate) mod untold;
            #[cfg(target_os = "linux")]
            #[path = "untold_of_std.rs"]
            pub(crate) mod untold_of_std;
            #[cfg(target_os = "linux")]
            #[path = "watched.rs"]
            pub(crate) mod watched;
        }
    };
}

world!(real, ::tokio);
world!(simulated, ::detsim_shim_tokio);

/// A program by its name, in both worlds.
macro_rules! programs {
    ($($area:ident: $($program:ident)+;)+) => { $( mod $area { $(
        #[test]
        fn $program() {
            let log = crate::Log::default();
            crate::in_the_real_world(crate::real::$area::$program(log.clone()));
            let real = log.text();
            assert!(!real.is_empty(), "a program that sees nothing shows nothing");
            let mut hashes = Vec::new();
            // The first seed twice: the run is to be the same.
            for seed in std::iter::once(0).chain(0..30) {
                let log = crate::Log::default();
                let simulated = crate::simulated::$area::$program(log.clone());
                let sim = detsim_executor::Sim::new(seed);
                sim.block_on(simulated).unwrap();
                assert_eq!(log.text(), real, "seed {seed}");
                hashes.push((sim.hash(), sim.now()));
            }
            assert_eq!(hashes[0], hashes[1]);
        }
    )+ } )+ };
}

/// Programs of several threads, which have no run of their own, and may take their time.
macro_rules! threaded {
    ($($area:ident: $($program:ident)+;)+) => { $( mod $area { $(
        #[test]
        fn $program() {
            let alone = |program: fn() -> String| {
                let thread = std::thread::Builder::new().spawn(program).unwrap();
                thread.join().unwrap()
            };
            let real = alone(crate::real::$area::$program);
            for _ in 0..3 {
                assert_eq!(alone(crate::simulated::$area::$program), real);
            }
        }
    )+ } )+ };
}

#[cfg(target_os = "linux")]
threaded! {
    foreign:
        a_stranger_blocks_on_a_handle a_stranger_blocks_while_the_owner_does
        strangers_share_a_runtime strangers_wait_for_each_other a_runtime_is_dropped_elsewhere
        a_runtime_outlives_the_thread_that_made_it
        who_is_still_in_it_goes_on_without_the_maker an_owner_waits_for_who_has_not_come_yet
        a_panic_is_the_strangers_own;
}

fn in_the_real_world(program: impl Future<Output = ()>) {
    let mut builder = ::tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    ::tokio::task::LocalSet::new().block_on(&runtime, program);
}

programs! {
    tcp:
        echoes a_write_needs_no_flush eight_bytes_through_a_buffer_of_one half_close_echoes
        the_end_comes_after_everything_written writes_of_one_peer_run_together
        a_connect_needs_no_accept a_connect_to_nobody_is_refused
        many_refused_connects_keep_nothing a_dropped_listener_refuses
        what_waits_to_be_accepted_is_reset_with_its_listener
        a_client_that_is_gone_is_accepted_all_the_same unread_bytes_make_a_reset
        a_reset_comes_once_then_the_end zero_linger_resets
        what_arrived_before_a_reset_is_read
        writing_to_who_has_closed_ends_in_a_broken_pipe writing_after_a_shutdown
        shutting_down_twice_is_fine reading_goes_on_after_a_shutdown
        a_peer_that_does_not_read_stops_the_writer a_blocked_writer_goes_on
        the_same_address_twice a_port_is_free_when_its_listener_is_gone
        ports_are_chosen_and_differ both_families_meet_at_a_wildcard
        the_other_family_is_not_there addresses_agree an_address_of_nobody
        names_resolve bad_addresses peeking_takes_nothing calls_of_no_bytes
        try_calls_do_not_wait readiness_follows_the_bytes split_halves_work
        owned_halves_close_and_reunite options_are_kept a_socket_binds_before_it_connects
        vectored_calls cancelled_accepts_lose_nothing cancelled_reads_lose_nothing
        a_bound_socket_is_not_bound_again a_copy_in_both_directions
        a_server_with_a_task_per_connection timeouts_around_reads an_unspecified_target_is_here;
    udp:
        a_datagram_arrives_whole what_does_not_fit_is_lost an_empty_datagram_is_one
        the_largest_datagram sending_to_nobody_is_told_to_who_is_connected
        sending_to_nobody_is_not_told_to_others a_connected_socket_hears_its_peer_only
        a_full_queue_drops_the_newest peeking_takes_no_datagram tries_do_not_wait no_peer_no_send
        broadcasts_need_permission the_same_port_twice a_dropped_socket_frees_its_port
        datagrams_reach_a_wildcard both_families_meet options_of_datagrams
        readiness_of_datagrams requests_and_answers;
    hostile:
        a_half_close_behind_much_that_nobody_has_read a_reset_in_the_middle_of_a_write
        a_backlog_that_is_full more_parts_than_one_call_takes peeking_again_and_again
        peeking_at_a_reset a_port_in_time_wait addresses_that_nobody_can_have
        a_socket_that_talks_to_itself datagrams_without_room ports_that_overlap
        a_storm_of_clients_that_are_gone a_stream_that_is_connected_to_itself
        a_stream_of_its_own_that_nobody_reads_fills_up
        a_stream_of_its_own_keeps_its_port_for_a_while;
    newcomers:
        requests_in_a_row_are_answered_in_a_row a_hundred_connects_at_once_are_all_served
        a_reader_that_gives_up_closes_and_the_writer_hears_of_it
        both_write_much_and_read_afterwards
        a_server_starts_again_on_its_port_while_clients_linger a_port_of_tcp_is_not_one_of_udp
        zero_linger_in_the_middle_of_bytes a_dual_stack_server_names_its_clients;
    unix:
        a_pair_talks listeners_are_found_by_name names_of_nobody a_closed_listener_refuses
        unread_bytes_reset_a_local_stream a_local_half_close a_local_writer_waits local_halves
        local_datagrams local_datagrams_by_name a_full_local_queue_waits a_pipe_carries_bytes
        a_pipe_without_a_reader_breaks a_full_pipe_waits an_end_of_a_pipe_is_taken_out
        pipes_of_the_system_carry_bytes what_is_no_end_of_a_pipe_is_refused
        a_pipe_of_the_system_breaks who_waits_to_be_accepted_is_reset
        tries_leave_readiness_as_it_is readiness_is_asked_for_as_often_as_one_likes
        what_a_program_denies_is_not_ready;
    untold:
        a_new_socket_for_datagrams_is_ready_when_the_driver_has_turned
        a_datagram_is_seen_when_the_driver_has_turned
        a_pair_of_streams_may_be_written_at_once a_short_read_ends_what_is_known
        a_full_read_does_not a_pair_for_datagrams_may_be_sent_to_at_once
        a_new_local_socket_waits_for_the_driver a_new_pipe_waits_for_the_driver
        what_is_accepted_may_be_used_at_once readiness_is_told_by_the_driver
        who_waits_for_either_end_is_told_of_one a_task_talks_to_itself
        whoever_was_woken_has_been_told;
}

#[cfg(target_os = "linux")]
programs! {
    descriptors:
        a_pair_is_writable_then_readable what_was_ready_is_until_somebody_clears_it
        a_guard_clears_nothing_newer a_part_of_what_is_ready_is_cleared
        tries_call_only_what_may_succeed an_operation_is_repeated_until_it_need_not_wait
        the_end_of_the_peer_is_seen_and_stays a_full_socket_is_writable_when_it_is_read
        all_who_wait_are_told a_wait_that_is_given_up_leaves_nothing
        what_cannot_be_watched_is_refused dropping_closes;
    every_option:
        options_of_sockets options_of_ipv4 options_of_ipv6 options_of_tcp
        groups_are_joined_and_left sockets_of_tokio_know_what_they_are
        a_group_is_heard_by_its_host one_datagram_always_fits;
    of_std:
        a_client_of_std_meets_a_listener_of_tokio a_listener_of_std_becomes_one_of_tokio
        a_stream_goes_to_std_and_back a_thread_serves_with_std errors_of_std
        halves_and_clones_of_std datagrams_of_std names_of_std
        what_is_connected_can_be_accepted_at_once
        a_datagram_of_the_same_host_is_there_when_it_was_sent;
    of_mio:
        an_echo_in_a_loop_of_mio a_refused_connect_is_told_by_mio datagrams_in_a_loop_of_mio
        a_loop_of_mio_times_out_and_is_woken;
    options:
        times_to_live_have_bounds a_listener_checks_its_ttl tcp_keeps_bits_of_the_class_of_service
        datagrams_keep_all_of_the_class_of_service options_of_the_other_family
        groups_have_bounds lingering_is_whole_seconds less_than_a_second_of_lingering_resets
        a_name_of_nobody_has_a_kind options_are_checked_by_socket2 hops_of_v6_are_no_ttl;
    ports:
        clients_are_shared_by_listeners datagrams_are_shared_by_sockets many_short_connections;
    untold_of_std:
        a_stream_of_std_is_new_to_tokio a_connection_of_std_is_new_to_tokio
        datagrams_of_std_are_new_to_tokio;
    shut:
        datagrams_of_udp_shut_for_reading local_datagrams_shut_for_reading
        a_socket_without_a_peer_is_shut_all_the_same a_thread_that_receives_hears_of_a_shutdown
        tries_of_what_is_shut_find_nothing a_stream_that_is_shut_for_writing_is_not_closed_yet;
    unix_files:
        a_bound_socket_is_a_file a_file_of_this_name_is_in_the_way names_that_lead_to_nobody
        a_name_that_is_removed_is_free a_socket_goes_by_all_its_names paths_that_are_too_long
        datagrams_have_files_too
        a_directory_of_a_socket_is_not_empty relative_paths_meet_absolute_ones;
    unix_names:
        abstract_names_meet_in_every_spelling tokio_takes_no_abstract_name_for_datagrams
        names_for_who_does_not_care a_full_queue_of_connections_refuses_to_wait
        streams_and_datagrams_do_not_mix a_connected_datagram_socket_hears_its_peer_alone
        queues_of_datagrams_have_bounds a_closed_peer_of_datagrams_is_told_once
        who_waits_for_room_is_told who_waits_for_room_is_told_that_nobody_is_left;
    unix_std:
        a_listener_of_std_has_a_file std_and_tokio_meet_at_a_file
        local_sockets_of_std_become_tokios_and_back a_pair_of_std datagrams_of_std_by_path
        abstract_names_of_std whoever_waits_in_a_thread_is_woken
        local_sockets_are_watched_by_their_descriptors all_that_is_asked_for_is_waited_for;
    watched:
        an_echo_over_watched_streams_of_std changes_of_a_watched_stream_are_told_once
        a_writer_waits_by_its_descriptor an_error_of_a_watched_socket_is_told
        an_urgent_byte_is_told_and_is_no_part_of_the_stream;
}
