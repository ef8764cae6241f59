# Ask the wire with curl. Run it with sh.
WIRE_URL=${WIRE_URL:-http://localhost:8000}

ask() {
  curl -sS --fail-with-body "$WIRE_URL/mcp" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -d "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"$1\", \"params\": $2}"
}

ask tools/list '{}' | grep -o '"name":"[a-z_]*"'
ask tools/call '{"name": "search_wire", "arguments": {"query": "OpenAI", "limit": 1, "detail": "standard"}}' |
  grep -oE '"(headline|layered_ready)":"([^"\\]|\\.)*"'
