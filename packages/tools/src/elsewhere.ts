/**
 * Empty stand-in for `#filtering-agent` and `#mcp-stdio` (`imports` of package.json) where Node.js is missing. Bundles for browsers
 * and edge runtimes build without these modules, and code that needs them reports that they are missing.
 */
export {}
