/** Returns whether two strings are equal. Takes the same time for all strings of one length. */
export function timingSafeEqual(actual: string, expected: string): boolean {
  let differs = actual.length ^ expected.length
  for (let index = 0; index < actual.length; index++)
    differs |= actual.charCodeAt(index) ^ expected.charCodeAt(index % expected.length)
  return differs === 0
}
