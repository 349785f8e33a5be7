//! A reader of captures that shares nothing with the writer reads what was written.

use detsim_executor::event::{DropReason, Wide};
use expect_test::{Expect, expect};

use super::super::super::sample::{A, B, Story, header};
use super::*;

/// A block of the file, without its lengths.
struct Block<'a> {
    kind: u32,
    body: &'a [u8],
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// All blocks; panics where a length is wrong.
fn blocks(mut file: &[u8]) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let length = u32_at(file, 4) as usize;
        assert_eq!((length % 4, u32_at(file, length - 4) as usize), (0, length));
        blocks.push(Block { kind: u32_at(file, 0), body: &file[8..length - 4] });
        file = &file[length..];
    }
    blocks
}

/// The text of an option.
fn text_of(mut options: &[u8], wanted: u16) -> String {
    loop {
        let (code, length) = (u16_at(options, 0), usize::from(u16_at(options, 2)));
        if code == wanted {
            return String::from_utf8(options[4..4 + length].to_vec()).unwrap();
        }
        assert_ne!(code, 0, "no option {wanted}");
        options = &options[4 + length.next_multiple_of(4)..];
    }
}

/// What is left of a sum over all words: nothing, where the checksum among them is right.
fn rest(parts: &[&[u8]]) -> u32 {
    let mut sum = 0;
    for (at, byte) in parts.iter().flat_map(|part| part.iter()).enumerate() {
        sum += u32::from(*byte) << (8 * ((at + 1) % 2));
    }
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    0xffff - sum
}

/// A packet as one line: who captured it, when, between whom, what, how long it was.
fn line(block: &Block<'_>) -> String {
    let (body, ns) = (block.body, |at| u64::from(u32_at(block.body, at)));
    let (captured, length) = (u32_at(body, 12) as usize, u32_at(body, 16) as usize);
    let frame = &body[20..20 + captured];
    let is_v4 = frame[12..14] == [8, 0];
    let ip = if is_v4 { &frame[14..34] } else { &frame[14..54] };
    let (addresses, protocol, said) = match is_v4 {
        true => (&ip[12..20], ip[9], usize::from(u16::from_be_bytes([ip[2], ip[3]]))),
        false => (&ip[8..40], ip[6], usize::from(u16::from_be_bytes([ip[4], ip[5]])) + 40),
    };
    assert_eq!(said + 14, length, "IP says how long the packet is");
    assert!(!is_v4 || rest(&[ip]) == 0, "the checksum of IP");
    let transport = &frame[14 + ip.len()..];
    let pseudo =
        [&((length - 14 - ip.len()) as u32).to_be_bytes()[..], &[0, 0, 0, protocol]].concat();
    let covered: &[&[u8]] =
        if protocol == 1 { &[transport] } else { &[addresses, &pseudo, transport] };
    assert_eq!(rest(covered), 0, "the checksum of protocol {protocol}");
    let word = |at: usize| u32::from_be_bytes(transport[at..at + 4].try_into().unwrap());
    let ports = (word(0) >> 16, word(0) & 0xffff);
    let what = match protocol {
        6 => format!("tcp {ports:?} seq {} ack {} flags {:02x}", word(4), word(8), transport[13]),
        17 => format!("udp {ports:?} length {}", word(4) >> 16),
        _ => format!("icmp {:?}", &transport[..2]),
    };
    let comment = text_of(&body[20 + captured.next_multiple_of(4)..], 1);
    let at = (ns(4) << 32) | ns(8);
    format!("{} at {at}: {what}; {captured} of {length}; {comment}\n", u32_at(body, 0))
}

fn check(story: Story, expected: &Expect) {
    let file = pcap(&Recorded { header: header(), trace: story.trace });
    let blocks = blocks(&file);
    assert_eq!((blocks[0].kind, u32_at(blocks[0].body, 0)), (0x0a0d_0d0a, 0x1a2b_3c4d));
    let mut seen = text_of(&blocks[0].body[16..], 1) + "\n";
    for block in &blocks[1..] {
        match block.kind {
            1 => seen += &format!("interface {}\n", text_of(&block.body[8..], 2)),
            6 => seen += &line(block),
            other => panic!("a block of kind {other}"),
        }
    }
    expected.assert_eq(&seen);
}

/// A packet leaves; half a microsecond later it arrives, unless it is lost.
fn packet(
    story: &mut Story,
    (kind, seq, bytes): (PacketKind, u32, u16),
    ends: [&str; 2],
    is_lost: bool,
) {
    let message = story.trace.moments.len() as u32;
    let (from, to) = if ends[0] < ends[1] { (A, B) } else { (B, A) };
    let [source, target] = ends.map(|end| story.text(end));
    story.net(NetEvent::Sent { message, from, to, latency_ns: Wide::new(500) });
    if is_lost {
        story.net(NetEvent::Dropped { message, from, to, why: DropReason::Partition });
    }
    story.net(NetEvent::Packet { message, source, target, seq, bytes, kind });
    story.pass(500);
    if !is_lost {
        story.net(NetEvent::Delivered { message, from, to });
    }
}

#[test]
fn a_connection_has_its_numbers_and_its_losses() {
    let mut story = Story::new();
    let (there, back) = (["10.0.0.1:40000", "10.0.0.2:80"], ["10.0.0.2:80", "10.0.0.1:40000"]);
    for (what, ends, is_lost) in [
        ((PacketKind::Syn, 0, 0), there, false),
        ((PacketKind::SynAck, 0, 0), back, false),
        ((PacketKind::Ack, 1, 0), there, false),
        ((PacketKind::Data, 1, 65_483), there, false),
        ((PacketKind::Data, 65_484, 3), there, true),
        ((PacketKind::Data, 1, 7), back, false),
        ((PacketKind::Data, 65_484, 3), there, false),
        ((PacketKind::Fin, 8, 0), back, false),
        ((PacketKind::Reset, 65_487, 0), there, false),
        // Another connection between the same addresses.
        ((PacketKind::Syn, 0, 0), there, false),
        ((PacketKind::SynAck, 0, 0), back, false),
    ] {
        packet(&mut story, what, ends, is_lost);
    }
    check(
        story,
        &expect![[r#"
        pool::drains, seed 847291, strategy random
        interface sim
        interface a
        interface b
        1 at 0: tcp (40000, 80) seq 0 ack 0 flags 02; 54 of 54; message 0: arrives at 0.000000s
        2 at 500: tcp (80, 40000) seq 0 ack 1 flags 12; 54 of 54; message 3: arrives at 0.000001s
        1 at 1000: tcp (40000, 80) seq 1 ack 1 flags 10; 54 of 54; message 6: arrives at 0.000001s
        1 at 1500: tcp (40000, 80) seq 1 ack 1 flags 18; 54 of 65537; message 9: arrives at 0.000002s
        1 at 2000: tcp (40000, 80) seq 65484 ack 1 flags 18; 54 of 57; message 12: lost: partition
        2 at 2500: tcp (80, 40000) seq 1 ack 65484 flags 18; 54 of 61; message 15: arrives at 0.000003s
        1 at 3000: tcp (40000, 80) seq 65484 ack 8 flags 18; 54 of 57; message 18: arrives at 0.000003s
        2 at 3500: tcp (80, 40000) seq 8 ack 65487 flags 11; 54 of 54; message 21: arrives at 0.000004s
        1 at 4000: tcp (40000, 80) seq 65487 ack 9 flags 14; 54 of 54; message 24: arrives at 0.000004s
        1 at 4500: tcp (40000, 80) seq 0 ack 0 flags 02; 54 of 54; message 27: arrives at 0.000005s
        2 at 5000: tcp (80, 40000) seq 0 ack 1 flags 12; 54 of 54; message 30: arrives at 0.000005s
    "#]],
    );
}

#[test]
fn datagrams_their_refusal_and_messages_without_addresses() {
    let mut story = Story::new();
    for (there, back) in [
        (["10.0.0.1:5", "10.0.0.2:53"], ["10.0.0.2:53", "10.0.0.1:5"]),
        (["[fd00::1]:5", "[fd00::2]:53"], ["[fd00::2]:53", "[fd00::1]:5"]),
    ] {
        packet(&mut story, (PacketKind::Datagram, 0, 512), there, false);
        packet(&mut story, (PacketKind::Unreachable, 1, 0), back, false);
    }
    story.net(NetEvent::Sent { message: 99, from: B, to: A, latency_ns: Wide::new(500) });
    check(
        story,
        &expect![[r#"
        pool::drains, seed 847291, strategy random
        interface sim
        interface a
        interface b
        1 at 0: udp (5, 53) length 520; 42 of 554; message 0: arrives at 0.000000s
        2 at 500: icmp [3, 3]; 70 of 70; message 3: arrives at 0.000001s
        1 at 1000: udp (5, 53) length 520; 62 of 574; message 6: arrives at 0.000001s
        2 at 1500: icmp [1, 4]; 110 of 110; message 9: arrives at 0.000002s
        2 at 2000: udp (60999, 60999) length 8; 42 of 42; message 99: on its way at the end
    "#]],
    );
}

#[test]
fn a_trace_without_messages_is_a_file_without_packets() {
    check(
        Story::new(),
        &expect![[r#"
        pool::drains, seed 847291, strategy random
        interface sim
        interface a
        interface b
    "#]],
    );
}
