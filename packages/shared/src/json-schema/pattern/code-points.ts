/** A range of code points; both ends are included. */
export type Range = readonly [from: number, to: number]

const maxCodePoint = 0x10ffff

export const digits: readonly Range[] = [[0x30, 0x39]]

export const wordCharacters: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]

/** White space and line ends of ECMAScript: https://tc39.es/ecma262/#sec-compiletocharset */
export const spaces: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]

/** The characters that `.` does not match. */
export const lineEnds: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]

/** Returns every code point outside of sorted ranges. */
export function complement(ranges: readonly Range[]): Range[] {
  const rest: Range[] = []
  let next = 0
  for (const [from, to] of ranges) {
    if (from > next) rest.push([next, from - 1])
    next = to + 1
  }
  if (next <= maxCodePoint) rest.push([next, maxCodePoint])
  return rest
}

/** Returns a code point in RE2 syntax as a number, so that it can never be an operator. */
export function escapeCodePoint(codePoint: number): string {
  return `\\x{${codePoint.toString(16)}}`
}

/** Returns ranges as the content of a class in RE2 syntax. */
export function toClassText(ranges: readonly Range[]): string {
  return ranges
    .map(([from, to]) => (from === to ? escapeCodePoint(from) : `${escapeCodePoint(from)}-${escapeCodePoint(to)}`))
    .join('')
}
