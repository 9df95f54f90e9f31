"""Generated and repeated records: the data of the benchmarks."""
