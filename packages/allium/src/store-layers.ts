import { AlliumError, type Middleware } from '@allium/core'
import { sessionStorage } from '@allium/memory/session-storage'
import { type AgentStore, sharedStore } from '@allium/store'

/**
 * Returns the layers that `new Agent({ store })` adds: one stores sessions, and one provides the store to other layers.
 *
 * @throws AlliumError `agent.options`
 */
export function storeLayers(store: AgentStore): readonly Middleware[] {
  checkStore(store)
  const provideStore: Middleware = {
    name: 'allium:store',
    provides: [sharedStore],
    async agent(ctx, next) {
      ctx.provide(sharedStore, store)
      await next()
    },
  }
  return [sessionStorage({ store: store.sessions }), provideStore]
}

/** The functions that each part needs. */
const requiredMethods: Readonly<Record<string, string>> = {
  sessions: 'load acquire renew release checkpoint append find',
  ledger: 'reserve settle balance',
  keyValue: 'get set delete',
  vault: 'load save',
  events: 'append read',
  recordings: 'add get list',
  feedback: 'put get list',
  rollouts: 'begin score look',
  passages: 'key',
  audit: 'chainOf',
}

function checkStore(store: unknown): void {
  if (typeof store === 'string')
    throw storeOptionError('is a string', `Open it: store: sqlite(${JSON.stringify(store)}).`)
  if (typeof store !== 'object' || store === null) throw storeOptionError(`is ${String(store)}`, expectedStore)
  if (missingMethod(store, 'sessions') === undefined)
    throw storeOptionError('only stores sessions', 'Write store: { sessions: store }.')
  const given = store as Record<string, unknown>
  if (given.sessions === undefined) throw storeOptionError('has no sessions', expectedStore)
  for (const part of Object.keys(requiredMethods)) {
    const method = given[part] === undefined ? undefined : missingMethod(given[part], part)
    if (method !== undefined)
      throw storeOptionError(`has a part ${part} without the function ${method}()`, expectedStore)
  }
  if (given.limits !== undefined && typeof given.limits !== 'function')
    throw storeOptionError('has limits that are no function', 'guard.rateLimit() needs one.')
}

/** Returns the first function that a part lacks. */
function missingMethod(part: unknown, name: string): string | undefined {
  return requiredMethods[name]
    ?.split(' ')
    .find((method) => typeof (part as Record<string, unknown> | null)?.[method] !== 'function')
}

const expectedStore = "Pass sqlite('allium.db'), postgres({ url }) or { sessions, ledger }."

function storeOptionError(problem: string, fix: string): AlliumError {
  return new AlliumError('agent.options', `The option store ${problem}. ${fix}`, { details: { option: 'store' } })
}
