use super::*;

/// Everything a framer makes of a stream that comes in pieces of these sizes.
fn frames(
    limit: usize,
    stream: &[u8],
    mut piece: impl FnMut() -> usize,
) -> (Vec<Result<Vec<u8>, ()>>, usize) {
    let mut framer = Framer::new(limit);
    let mut found = Vec::new();
    let mut most = 0;
    let mut rest = stream;
    let mut take = |framer: &Framer| {
        found.push(match framer.frame() {
            Frame::Line(line) => Ok(line.to_vec()),
            Frame::Oversized(head) => {
                assert!(limit < head.len() && head.len() <= HEAD);
                Err(())
            }
        });
    };
    while !rest.is_empty() {
        let (now, later) = rest.split_at(piece().clamp(1, rest.len()));
        framer.room(now.len()).extend_from_slice(now);
        rest = later;
        most = most.max(framer.held());
        while framer.advance() {
            take(&framer);
        }
    }
    if framer.finish() {
        take(&framer);
    }
    (found, most)
}

#[test]
fn lines_of_every_kind() {
    let check = |stream: &[u8], want: &[Result<&[u8], ()>]| {
        for size in [1, 2, 3, 7, 1000] {
            let (found, _) = frames(10, stream, || size);
            let want: Vec<Result<Vec<u8>, ()>> = want.iter().map(|line| line.map(<[u8]>::to_vec)).collect();
            assert_eq!(found, want, "{stream:?} in pieces of {size}");
        }
    };
    check(b"a\nb\n", &[Ok(b"a"), Ok(b"b")]);
    check(b"a\r\n\nb", &[Ok(b"a"), Ok(b""), Ok(b"b")]);
    check(b"0123456789\nx\n", &[Ok(b"0123456789"), Ok(b"x")]);
    check(b"0123456789A\nx\n", &[Err(()), Ok(b"x")]);
    check(b"0123456789ABCDEF", &[Err(())]);
    check(b"", &[]);
}

#[test]
fn t05_f73_an_endless_line_costs_no_memory_and_is_told_at_once() {
    let chunk = vec![b'x'; 64 << 10];
    let mut framer = Framer::new(1 << 20);
    for count in 1..=1024 {
        framer.room(chunk.len()).extend_from_slice(&chunk);
        // Told once, as soon as it is so.
        assert_eq!(framer.advance(), count == 17, "{count}");
        assert!(framer.held() <= 4 << 20, "{}", framer.held());
    }
    framer.room(16).extend_from_slice(b"\n{\"id\":1}\n");
    assert!(framer.advance());
    assert_eq!(framer.frame(), Frame::Line(b"{\"id\":1}"));
}

/// A stream cut anywhere gives the same lines as one that comes whole, and never holds much more than a line.
#[test]
fn generated_streams_are_cut_alike() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..crate::GENERATED / 10 {
        let length = random.usize(0..600);
        let stream: Vec<u8> =
            (0..length).map(|_| *random.choice(b"ab\n\r\"{}[]:,1\\".iter()).unwrap_or(&b'x')).collect();
        let limit = random.usize(1..80);
        let (whole, _) = frames(limit, &stream, || usize::MAX);
        let (pieces, most) = frames(limit, &stream, || random.usize(1..40));
        assert_eq!(whole, pieces, "limit {limit}: {stream:?}");
        assert!(most <= 2 * (limit + 40) + 64, "{most} for {limit}");
    }
}
