//! The endpoint beside what it could be: the same upstream server and the same load client, called directly, through the least
//! relay there can be, through Kitbag with everything switched on, and through what others use.

pub mod figures;
pub mod http;
pub mod load;
pub mod peers;
pub mod process;
pub mod sides;
