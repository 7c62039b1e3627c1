import { describe } from '../errors/describe.ts'

/** Parses the arguments of a tool call. Returns why they are invalid if they are not a JSON object. Empty text is `{}`. */
export function parseArgs(json: string): { args: Record<string, unknown> } | { invalid: string } {
  if (json.trim() === '') return { args: {} }
  let args: unknown
  try {
    args = JSON.parse(json)
  } catch {
    return { invalid: notJson }
  }
  if (isTooDeep(args, json.length / 2))
    return { invalid: `The arguments are nested more than ${maxDepth} levels deep.` }
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return { invalid: `The arguments are ${describe(args)}, not a JSON object.` }
  const rounded = mayRound.test(json) ? findRounded(json) : undefined
  if (rounded !== undefined) return { invalid: rounded }
  return { args: args as Record<string, unknown> }
}

export const notJson = 'The arguments are not valid JSON.'

const maxDepth = 200

/** Whether JSON is nested too deep to traverse. `most` is an upper bound of its depth, from the text length. */
function isTooDeep(value: unknown, most: number, depth = 0): boolean {
  if (most <= maxDepth || typeof value !== 'object' || value === null) return false
  return depth >= maxDepth || Object.values(value).some((inner) => isTooDeep(inner, most, depth + 1))
}

/** Finds candidates: 2^53 has 16 digits, and the largest number has a three-digit exponent. */
const mayRound = /\d{16}|\d[eE]\+?\d{3}/
/** Matches single tokens. A match of the whole text would overflow the stack at several megabytes. */
const tokens = /\\.|"|-?\d[\d.eE+-]*/g
/** Prefix of a number that was quoted so that it can be found after parsing. */
const mark = '\u0000number '

/** Describes the first argument with a number that JSON.parse would round, such as an id of 18 digits. */
function findRounded(json: string): string | undefined {
  let found = false
  let isText = false
  const marked = json.replace(tokens, (token) => {
    if (token === '"') isText = !isText
    if (isText || token === '"' || !isRounded(token)) return token
    found = true
    return JSON.stringify(mark + token)
  })
  const place = found ? placeOf(JSON.parse(marked)) : undefined
  return (
    place &&
    `The argument ${describe(place.path)} is the number ${describe(place.number).slice(1, -1)}, which is not exact in JavaScript. Send it as a string.`
  )
}

function isRounded(token: string): boolean {
  const number = Number(token)
  if (!Number.isFinite(number)) return true
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(number) && BigInt(token) !== BigInt(number)
}

function placeOf(value: unknown, path = ''): { path: string; number: string } | undefined {
  if (typeof value === 'string' && value.startsWith(mark)) return { path, number: value.slice(mark.length) }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const place = placeOf(inner, path === '' ? key : `${path}.${key}`)
    if (place !== undefined) return place
  }
  return undefined
}
