// Counts the samples of a recording by process and instruction address, as examples/count_samples.c does.
use linux_perf_data::{linux_perf_event_reader::EventRecord, PerfFileReader, PerfFileRecord};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

#[derive(Default)]
struct Multiply(u64);

impl Hasher for Multiply {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.write_u64(u64::from(*b));
        }
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn write_i32(&mut self, n: i32) {
        self.write_u64(n as u64);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: count_samples FILE")?;
    let file = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(path)?);
    let PerfFileReader { mut record_iter, mut perf_file } = PerfFileReader::parse_file(file)?;
    let mut counts: HashMap<(i32, u64), u64, BuildHasherDefault<Multiply>> = HashMap::default();
    let (mut records, mut samples) = (0u64, 0u64);

    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        records += 1;
        if let PerfFileRecord::EventRecord { record, .. } = record {
            if let EventRecord::Sample(s) = record.parse()? {
                samples += 1;
                *counts.entry((s.pid.unwrap_or(-1), s.ip.unwrap_or(0))).or_insert(0) += 1;
            }
        }
    }
    println!("{} records, {} samples, {} places", records, samples, counts.len());
    Ok(())
}
