/**
 * What `#filtering-agent` and `#mcp-stdio` (`imports` of package.json) stand for where there is no Node.js: nothing. So a
 * bundle for a browser or an edge runtime has neither, and builds; who asks for them says that they are missing.
 */
export {}
