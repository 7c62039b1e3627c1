/** Whether the call stack overflowed. Then not even a promise can be created. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack')
}
