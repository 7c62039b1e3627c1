import { forAnyValue } from './any-value.ts'
import { forArrays } from './arrays.ts'
import { forSchemas } from './combinators.ts'
import type { Keyword } from './keyword.ts'
import { forObjects } from './objects.ts'
import { forNumbers, forStrings } from './scalars.ts'

/** The keywords that are checked, cheap ones first: those of a value come before those of its members. */
export const keywords: ReadonlyMap<string, Keyword> = new Map(
  Object.entries({ ...forAnyValue, ...forNumbers, ...forStrings, ...forObjects, ...forArrays, ...forSchemas }),
)

const order = new Map([...keywords.keys()].map((name, i) => [name, i]))

/** Compares keywords by their order in the table. */
export function byCost(a: string, b: string): number {
  return (order.get(a) ?? order.size) - (order.get(b) ?? order.size)
}

/** Keywords that check nothing, or that another keyword reads. */
const annotations = new Set(
  [
    '$anchor $comment $defs $dynamicAnchor $id $recursiveAnchor $schema $vocabulary contentEncoding contentMediaType',
    'contentSchema default definitions deprecated description discriminator else enumNames example examples',
    'externalDocs format id maxContains minContains nullable readOnly then title writeOnly xml',
  ].flatMap((line) => line.split(' ')),
)

export function isAnnotation(keyword: string): boolean {
  return annotations.has(keyword) || keyword.startsWith('x-')
}
