import { labelled } from './sets.mjs'

const types = ['email', 'card', 'iban', 'ssn', 'ip', 'phone', 'api_key']

/**
 * Of each type what share of the values is gone from the text (recall), and what share of the findings is a value (precision).
 *
 * @param {(text: string) => Promise<import('./peers.mjs').Found>} side
 */
export async function quality(side) {
  const counts = Object.fromEntries(types.map((type) => [type, { values: 0, gone: 0, found: 0, right: 0 }]))
  for (const { text, labels } of labelled()) {
    const { rest, found } = await side(text)
    for (const type of types) {
      const mine = labels.filter((label) => label.type === type)
      const gone = mine.filter(({ value }) => !rest.includes(value)).length
      const count = counts[type]
      count.values += mine.length
      count.gone += gone
      count.found += found[type] ?? 0
      count.right += Math.min(found[type] ?? 0, gone)
    }
  }
  return Object.fromEntries(
    types.map((type) => {
      const { values, gone, found, right } = counts[type]
      return [type, { values, recall: gone / values, precision: found === 0 ? undefined : right / found }]
    }),
  )
}
