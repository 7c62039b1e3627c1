import { toMessages } from '../messages/check-messages.ts'
import { canonicalJson } from '../messages/json.ts'
import { formOf } from '../output/option.ts'
import type { Task } from './options.ts'

/**
 * Returns the request that the key of a run identifies: its input or decisions and, if given, the client tools and the
 * output format.
 *
 * @throws AlliumError `message.invalid`, `run.options`
 */
export function requestOf<C>({ decisions, input, options: { clientTools, output } }: Task<C>): unknown {
  const request = decisions === undefined ? toMessages(input) : { decisions }
  if (clientTools === undefined && output === undefined) return request
  return { request, clientTools, form: output === undefined ? undefined : formOf(output) }
}

/** Returns a synchronous fingerprint of a run's request, which stores nothing of the request. */
export function fingerprintOf<C>(task: Task<C>): string {
  try {
    return hashOf(canonicalJson(requestOf(task)))
  } catch {
    // Such a run is rejected.
    return ''
  }
}

/** A 53-bit hash: cyrb53. */
function hashOf(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 2654435761)
    b = Math.imul(b ^ text.charCodeAt(i), 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return `${text.length} ${b >>> 0} ${a >>> 0}`
}
