import type { Difference } from './compare.ts'

/** A failing case as a test to copy. */
export function asTest<T extends object>(
  plan: T,
  found: readonly Difference[],
  { title, look = 'differences(plan)', type = 'Case' }: { title: string; look?: string; type?: string },
): string {
  const comments = found.map(
    ({ aspect, expected, actual }) =>
      `  // ${aspect}: ${JSON.stringify(expected) ?? 'nothing of the kind'}, but it is ${JSON.stringify(actual)}`,
  )
  return [
    `it(${quoted(title)}, async () => {`,
    ...comments,
    `  const plan: ${type} = ${literal(plan, 1)}`,
    `  expect(await ${look}).toEqual([])`,
    '})',
  ].join('\n')
}

/** A value as source; what fits stands on one line. */
function literal(value: unknown, depth: number): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const list = Array.isArray(value)
  const items = list
    ? value.map((item) => literal(item, depth + 1))
    : Object.entries(value).flatMap(([key, item]) =>
        item === undefined ? [] : [`${key}: ${literal(item, depth + 1)}`],
      )
  const [open, close] = list ? ['[', ']'] : ['{', '}']
  if (items.length === 0) return open + close
  const line = list ? `[${items.join(', ')}]` : `{ ${items.join(', ')} }`
  if (line.length + 2 * depth < 100 && !line.includes('\n')) return line
  const indent = '  '.repeat(depth + 1)
  return `${open}\n${items.map((item) => `${indent}${item},\n`).join('')}${'  '.repeat(depth)}${close}`
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
