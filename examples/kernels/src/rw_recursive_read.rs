//! A page that reads the settings, and reads them again in a method of theirs, while they are edited.
//!
//! Any number may read at a time, so reading twice looks harmless. But who comes to read waits behind
//! who waits to write, and the writer waits for the first of the two reads.

use std::sync::Arc;
use tokio::sync::RwLock;

/// What an operator may edit.
#[derive(Debug)]
struct Settings {
    title: String,
    locale: String,
}

/// The settings of a site that runs.
#[derive(Debug)]
struct Site {
    settings: RwLock<Settings>,
}

impl Site {
    fn new() -> Arc<Self> {
        let settings = Settings { title: "News".to_owned(), locale: "en".to_owned() };
        Arc::new(Self { settings: RwLock::new(settings) })
    }

    async fn locale(&self) -> String {
        self.settings.read().await.locale.clone()
    }

    /// Holds the settings while it asks for the locale, so that both are of one edition.
    async fn heading(self: Arc<Self>) -> String {
        let settings = self.settings.read().await;
        format!("{} ({})", settings.title, self.locale().await)
    }

    /// Takes both from the one guard.
    async fn heading_of_one_read(self: Arc<Self>) -> String {
        let settings = self.settings.read().await;
        format!("{} ({})", settings.title, settings.locale)
    }

    async fn edit(self: Arc<Self>, title: &str, locale: &str) {
        let mut settings = self.settings.write().await;
        (settings.title, settings.locale) = (title.to_owned(), locale.to_owned());
    }
}

fn check(heading: &str) {
    assert!(["News (en)", "Nouvelles (fr)"].contains(&heading), "half an edition: {heading}");
}

/// An edit that comes between the two reads waits for the first, and the second waits for the edit.
pub async fn buggy() {
    let site = Site::new();
    let page = tokio::spawn(Arc::clone(&site).heading());
    let edit = tokio::spawn(Arc::clone(&site).edit("Nouvelles", "fr"));
    check(&page.await.expect("a page does not panic"));
    edit.await.expect("an edit does not panic");
}

/// Whoever holds a guard reads through it.
pub async fn fixed() {
    let site = Site::new();
    let page = tokio::spawn(Arc::clone(&site).heading_of_one_read());
    let edit = tokio::spawn(Arc::clone(&site).edit("Nouvelles", "fr"));
    check(&page.await.expect("a page does not panic"));
    edit.await.expect("an edit does not panic");
    check(&site.heading_of_one_read().await);
}
