//! A write-ahead log on a faulty disk
