use std::time::Duration;

/// The times that something took.
#[derive(Default)]
pub(crate) struct Sample {
    times: Vec<Duration>,
}

impl Sample {
    pub(crate) fn push(&mut self, time: Duration) {
        let place = self.times.partition_point(|other| *other <= time);
        self.times.insert(place, time);
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        other.times.iter().for_each(|time| self.push(*time));
    }

    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// The time within which this many of a hundred were done.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let place = (self.times.len() * percent).div_ceil(100).saturating_sub(1);
        self.times.get(place).copied().unwrap_or_default()
    }

    /// The median, the 95th and the 99th percentile, in milliseconds.
    pub(crate) fn columns(&self) -> [String; 3] {
        [50, 95, 99].map(|percent| milliseconds(self.percentile(percent)))
    }
}

pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1_000.0)
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64())
}

/// How many a second, of a number done in a time.
pub(crate) fn rate(number: usize, time: Duration) -> f64 {
    number as f64 / time.as_secs_f64().max(f64::EPSILON)
}
