/** Whether the call stack ran out; then not even a promise can be made. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack')
}
