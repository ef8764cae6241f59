"""Corpora of dated reports in which fact, report and interpretation stay apart: the wire itself is the first of them."""
