/** Returns a blind term as a token of the index, which is shorter than its hexadecimal digits. */
export function toToken(term: string): string {
  return BigInt(`0x${term}`).toString(36)
}
