// The row exchanges of one step, as a gather: which row of the old matrix becomes row i of the new one?
//
// A step brings row `p` to row `r` (exchange 1), and then what stands at row `q` to row `s` (exchange 2).
// A fragment cannot scatter, so it asks backwards, last exchange first. An exchange of a row with itself does nothing.

int exchanged(int i, int a, int b) {
    return i == a ? b : (i == b ? a : i);
}

int source_row(int i, int r, int p, int s, int q) {
    return exchanged(exchanged(i, s, q), r, p);
}
