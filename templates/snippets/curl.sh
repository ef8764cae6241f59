curl -s {{ site }}/api/today.json
curl -s '{{ site }}/api/search.json?query=agents&limit=3'
curl -s {{ mcp }} -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_wire","arguments":{"query":"agents","limit":3}}}'
