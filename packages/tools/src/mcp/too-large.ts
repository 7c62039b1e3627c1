/** The error code of the response that replaces an oversized message, from the range that JSON-RPC leaves to implementations. */
export const tooLargeCode = -32_013

/** Returns the JSON-RPC response that replaces an oversized one. */
export function tooLargeAnswer(id: unknown, maxBytes: number): object {
  return { jsonrpc: '2.0', id, error: { code: tooLargeCode, message: `more than ${maxBytes} bytes` } }
}
