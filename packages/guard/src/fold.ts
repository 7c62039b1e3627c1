/** A text as detectors see it, and where its characters stand in the original. */
export interface Folded {
  readonly text: string
  /** Where the part of the original begins and ends that a part of the folded text stands for. */
  original(start: number, end: number): [start: number, end: number]
  /** The first folded character that stands at this place of the original, or behind it. */
  folded(index: number): number
}

/**
 * Folds what looks the same into one: compatibility forms (NFKC, by character), decimal digits of all scripts, dashes and
 * spaces; characters that nobody sees are left out. `loose` also lets go of case and accents.
 */
export function fold(text: string, { loose = false } = {}): Folded {
  const isPlain = loose ? ascii.test(text) : ascii.test(text) || isFolded(text)
  if (isPlain) return asItIs(loose ? text.toLowerCase() : text)
  const starts: number[] = []
  const ends: number[] = []
  const known = new Map<string, string>()
  let folded = ''
  let at = 0
  for (const char of text) {
    let as = known.get(char)
    if (as === undefined) {
      as = loose ? looser(foldChar(char)) : foldChar(char)
      known.set(char, as)
    }
    for (let i = 0; i < as.length; i++) {
      starts.push(at)
      ends.push(at + char.length)
    }
    folded += as
    at += char.length
  }
  return {
    text: folded,
    original: (start, end) => [starts[start] ?? text.length, ends[end - 1] ?? text.length],
    folded: (index) => firstFrom(starts, index),
  }
}

const ascii = /^\p{ASCII}*$/u
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/u
const foldable = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Pd}\u2212]|(?![0-9])\p{Nd}|(?! )\p{Zs}/u

function isFolded(text: string): boolean {
  return !foldable.test(text) && text.normalize('NFKC') === text
}

function asItIs(text: string): Folded {
  return { text, original: (start, end) => [start, end], folded: (index) => Math.min(index, text.length) }
}

function foldChar(char: string): string {
  if (char < '\x80') return char
  if (invisible.test(char)) return ''
  const as = char.normalize('NFKC')
  if (/^\p{Nd}$/u.test(as)) return digitOf(as)
  if (/^[\p{Pd}\u2212]$/u.test(as)) return '-'
  return /^\p{Zs}$/u.test(as) ? ' ' : as
}

function looser(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
}

/** Unicode has the decimal digits of each script in one row of ten. */
function digitOf(char: string): string {
  const code = char.codePointAt(0) as number
  if (code < 0x80) return char
  let value = 0
  while (value < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(code - value - 1))) value++
  return String(value)
}

function firstFrom(starts: readonly number[], index: number): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] as number) < index) low = middle + 1
    else high = middle
  }
  return low
}
