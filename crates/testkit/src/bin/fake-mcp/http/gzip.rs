//! Just enough of gzip to be read by anybody: blocks that are stored as they are.

/// The largest stored block.
const BLOCK: usize = 0xffff;

pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut blocks = bytes.chunks(BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let size = u16::try_from(block.len()).unwrap_or(u16::MAX);
        packed.push(u8::from(blocks.peek().is_none()));
        packed.extend_from_slice(&size.to_le_bytes());
        packed.extend_from_slice(&(!size).to_le_bytes());
        packed.extend_from_slice(block);
    }
    packed.extend_from_slice(&crc32(bytes).to_le_bytes());
    // The size is told modulo 2^32 only.
    packed.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    packed
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc: u32, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}
