/** Takes anything: what a client says of calls is not read. */
const anything = {
  '~standard': { version: 1, vendor: 'allium', validate: (value: unknown) => ({ value }) },
}
const tool = { description: '', inputSchema: anything, outputSchema: undefined }

/** The tools of an agent as the AI SDK checks messages by them: whatever a message names is one. None of them runs there. */
export const anyTools: {} = new Proxy(
  {},
  {
    get: (_, name) => (typeof name === 'string' ? tool : undefined),
    has: (_, name) => typeof name === 'string',
    getOwnPropertyDescriptor: (_, name) =>
      typeof name === 'string' ? { value: tool, configurable: true, enumerable: false, writable: false } : undefined,
  },
)
