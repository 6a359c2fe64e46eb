use super::*;

const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:20E4 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0
   1: 0100007F:20E4 0100007F:D2F0 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0 20 4 30 10 -1
   2: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 4713
   3: nonsense
";

#[test]
fn sockets_that_listen_are_read_from_the_kernels_table() {
    let found: Vec<(SocketAddr, u64)> = listening(TABLE).collect();
    let is = |text: &str| text.parse::<SocketAddr>().unwrap();
    assert_eq!(found, [(is("127.0.0.1:8420"), 4711), (is("[::1]:80"), 4713)]);
}

#[test]
fn an_address_for_all_is_in_the_way_of_each() {
    let check = |at: &str, wanted: &str, expected: bool| {
        assert_eq!(is_in_the_way(at.parse().unwrap(), wanted.parse().unwrap()), expected, "{at} {wanted}");
    };
    check("127.0.0.1:80", "127.0.0.1:80", true);
    check("0.0.0.0:80", "127.0.0.1:80", true);
    check("127.0.0.1:80", "0.0.0.0:80", true);
    check("127.0.0.2:80", "127.0.0.1:80", false);
    check("127.0.0.1:81", "127.0.0.1:80", false);
}
