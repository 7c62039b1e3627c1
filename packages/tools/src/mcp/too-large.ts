/** The code of the answer that stands in for a message beyond the limit: one of those that JSON-RPC leaves to implementations. */
export const tooLargeCode = -32_013

/** A response of JSON-RPC in place of one that is too large. */
export function tooLargeAnswer(id: unknown, maxBytes: number): object {
  return { jsonrpc: '2.0', id, error: { code: tooLargeCode, message: `more than ${maxBytes} bytes` } }
}
