import type { PassageTurn } from '@allium/store'
import { checkPassages } from '@allium/store/passages'
import { flowToNumber } from '@allium/store-sql/passages'

/**
 * Returns the passages of a turn as JSON, in the order of `replace_passages`.
 *
 * @param seq the number of turns before it
 * @throws AlliumError `state.invalid`, `store.key`
 */
export function passageRows(turn: PassageTurn, seq: number): string | undefined {
  const rows = checkPassages(turn, seq).map(({ index, role, author, at, words, flow, terms }) => [
    ...[index, role, author, at, words, flowToNumber(flow)],
    terms.map(([term]) => toBigint(term)),
    terms.map(([, count]) => count),
  ])
  return rows.length === 0 ? undefined : JSON.stringify(rows)
}

/** Returns a blind term as a signed number of 64 bits, in decimal digits. */
export function toBigint(term: string): string {
  return BigInt.asIntN(64, BigInt(`0x${term}`)).toString()
}
