//! Tokio under --cfg detsim simulated, without it tokio itself
