claude mcp add --transport http {{ server_name }} {{ mcp }}
