"""The log over all snapshots: Merkle tree, signed checkpoints, witnesses."""
