//! std's lookups in a run, and what C sees of them.

use std::io;
use std::mem::zeroed;
use std::net::ToSocketAddrs;
use std::ptr::null;
use std::time::Duration;

use detsim_executor::Sim;
use detsim_net::Net;

use super::*;

fn look_up_in_run(
    asks: impl FnOnce() -> io::Result<Vec<SocketAddr>> + 'static,
) -> (io::Result<Vec<SocketAddr>>, Duration) {
    super::super::link_in();
    let sim = Sim::new(1);
    let _db = sim.node("db");
    let net = Net::of(&sim);
    net.set_name("many.test", ["10.9.0.1", "fd00::99", "10.9.0.2"].map(|ip| ip.parse().unwrap()));
    let task = sim.node("web").spawn("web", async move {
        let begun = context::now();
        (asks(), context::now() - begun)
    });
    sim.block_on(task).unwrap().unwrap()
}

fn asks(name: &'static str) -> (Result<Vec<String>, String>, Duration) {
    let (found, took) = look_up_in_run(move || Ok((name, 80).to_socket_addrs()?.collect()));
    let shown = found.map(|all| all.iter().map(SocketAddr::to_string).collect());
    (shown.map_err(|error| error.to_string()), took)
}

#[test]
fn names_of_nodes_and_of_the_scenario_are_found_and_that_takes_time() {
    let (found, took) = asks("db");
    assert_eq!(found.unwrap(), ["10.0.0.1:80", "[fd00::1]:80"]);
    assert!((Duration::from_micros(100)..Duration::from_millis(3)).contains(&took), "{took:?}");
    let (found, _) = asks("Many.Test.");
    assert_eq!(found.unwrap(), ["10.9.0.1:80", "[fd00::99]:80", "10.9.0.2:80"]);
    let (found, took) = asks("localhost");
    assert_eq!(found.unwrap(), ["[::1]:80", "127.0.0.1:80"]);
    assert!(took < Duration::from_micros(1), "{took:?}");
}

#[test]
fn what_is_no_name_is_an_error_in_the_words_of_libc() {
    let (found, _) = asks("nobody");
    let said = "failed to lookup address information: Name or service not known";
    assert_eq!(found.unwrap_err(), said);
    let (found, _) = look_up_in_run(|| {
        Net::current().unwrap().set_lookup_failure_rate(1.0);
        Ok("db:80".to_socket_addrs()?.collect())
    });
    let said = "failed to lookup address information: Temporary failure in name resolution";
    assert_eq!(found.unwrap_err().to_string(), said);
}

#[test]
fn outside_a_run_libc_answers() {
    super::super::link_in();
    let found: Vec<SocketAddr> = ("localhost", 80).to_socket_addrs().unwrap().collect();
    assert!(found.iter().all(|address| address.ip().is_loopback() && address.port() == 80));
    assert!(!found.is_empty());
}

/// Family, kind and protocol of an entry.
type Shown = (c_int, c_int, c_int);

/// What C sees: family, kind, protocol and flags of each entry, and the canonical name.
fn raw(node: &CStr, hints: addrinfo) -> Result<(Vec<Shown>, String), c_int> {
    let (mut list, mut seen) = (null_mut(), Vec::new());
    // SAFETY: the arguments are valid for the call.
    match unsafe { getaddrinfo(node.as_ptr(), null(), &raw const hints, &raw mut list) } {
        0 => {}
        error => return Err(error),
    }
    let mut next = list.cast_const();
    let mut name = String::new();
    // SAFETY: the list is as the function says.
    while let Some(entry) = unsafe { next.as_ref() } {
        seen.push((entry.ai_family, entry.ai_socktype, entry.ai_protocol));
        // SAFETY: a name ends in a zero.
        name += &unsafe { text_of(entry.ai_canonname) }.unwrap_or_default();
        next = entry.ai_next;
    }
    // SAFETY: the list came from the function, and is not used again.
    unsafe { freeaddrinfo(list) };
    Ok((seen, name))
}

#[test]
fn hints_are_obeyed() {
    super::super::link_in();
    let sim = Sim::new(1);
    let task = sim.node("db").spawn("db", async {
        // SAFETY: every field is a number or a pointer, for which zeros are a value.
        let none: addrinfo = unsafe { zeroed() };
        let (all, _) = raw(c"db", none).unwrap();
        assert_eq!(all.len(), 6, "two addresses, three kinds");
        let udp = addrinfo {
            ai_family: AF_INET6,
            ai_socktype: libc::SOCK_DGRAM,
            ai_flags: libc::AI_CANONNAME,
            ..none
        };
        let seen = raw(c"db", udp).unwrap();
        assert_eq!(seen, (vec![(AF_INET6, libc::SOCK_DGRAM, libc::IPPROTO_UDP)], "db".to_owned()));
        let numeric = addrinfo { ai_flags: libc::AI_NUMERICHOST, ..none };
        assert_eq!(raw(c"db", numeric), Err(libc::EAI_NONAME));
        assert_eq!(
            raw(c"10.0.0.1", addrinfo { ai_family: AF_INET6, ..none }),
            Err(libc::EAI_NODATA)
        );
        assert_eq!(raw(c"db", addrinfo { ai_family: 77, ..none }), Err(libc::EAI_FAMILY));
    });
    sim.block_on(task).unwrap().unwrap();
}
