/** Accepts any value, because the client's statements about calls are not read. */
const anything = {
  '~standard': { version: 1, vendor: 'allium', validate: (value: unknown) => ({ value }) },
}
const tool = { description: '', inputSchema: anything, outputSchema: undefined }

/** The tools against which the AI SDK validates messages: every name that a message uses exists. None of them runs there. */
export const anyTools: {} = new Proxy(
  {},
  {
    get: (_, name) => (typeof name === 'string' ? tool : undefined),
    has: (_, name) => typeof name === 'string',
    getOwnPropertyDescriptor: (_, name) =>
      typeof name === 'string' ? { value: tool, configurable: true, enumerable: false, writable: false } : undefined,
  },
)
