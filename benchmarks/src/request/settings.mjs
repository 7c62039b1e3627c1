import { native, uiPages } from './protocols.mjs'
import { workloads } from './workloads.mjs'

/**
 * How the requests are sent and stored, on all sides. The budgets need so many `rounds`.
 *
 * @typedef {{ ui: boolean, synchronous: 'full' | 'normal', rounds: number, only: string[], protocol: () => import('./protocols.mjs').Protocol }} Setting
 */

/** @type {Setting} */
const own = { ui: false, synchronous: 'full', rounds: 5, only: ['W1', 'W2', 'W3', 'W4'], protocol: () => native }

/** The setting of a chat page: the stream of the AI SDK, a database that syncs less often, and ten times as many requests per round. */
const page = { ui: true, synchronous: 'normal', rounds: 2, only: ['W1', 'W2', 'W3'], protocol: uiPages }
const requestsOfPages = 2000

/** Returns the setting, and gives the workloads their number of requests. @returns {Setting} */
export function settingOf({ ui, share }) {
  for (const one of Object.values(workloads)) one.requests = Math.ceil((ui ? requestsOfPages : one.requests) * share)
  return ui ? page : own
}
