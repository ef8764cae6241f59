"""Publisher content: articles of sites whose publishers agreed, searched and read by agents on the publisher's terms."""
