claude mcp add --transport http chatbotnews-wire {{ mcp }}
