import { AlliumError } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { onion } from '@allium/observe'
import { createPricing, type Prices } from '@allium/shared/prices'
import type { EventLog } from '@allium/store'
import type { Access, Limits, RunReader, Seals, Stores } from '../host/host.ts'
import type { Inspect, ServedAgent } from '../options/options.ts'
import type { Serve } from '../request/router.ts'
import type { AccessRule } from './access.ts'
import { checkReadOnlyStore, type ReadOnlyStore } from './read-only-store.ts'
import { inspectRoutes } from './routes.ts'
import { TraceLog } from './trace-log.ts'
import { createTurnRecorder } from './turn-recorder.ts'
import { watchedEvents } from './watched-events.ts'

export interface InspectorOptions {
  /** Returns whose turns a principal may inspect, or nothing. A throw denies it. */
  access: AccessRule
  /**
   * The state keys whose values are recorded. `'all'` records the keys of all layers except those that redact.
   * @default none
   */
  state?: readonly string[] | 'all' | undefined
  /** The number of records in memory. A step of a turn has about 30. @default 200_000 */
  maxRecords?: number | undefined
  /** The size of the records in memory, in characters. The oldest are removed first. @default 33_554_432 */
  maxSize?: number | undefined
  /**
   * Another session store, such as that of production. Principals with access see its sessions in their tenant and may copy them to
   * sessions of their own on this server. Nothing in it changes. @default none
   */
  readOnly?: ReadOnlyStore | undefined
  /** Your prices, as for `observe.usage`. @default the public list */
  prices?: Prices | undefined
}

const optionKeys: KeysOf<InspectorOptions> = {
  access: true,
  state: true,
  maxRecords: true,
  maxSize: true,
  readOnly: true,
  prices: true,
}

/**
 * Lets chosen principals inspect the agents of a server: their layers, and each turn as it runs, with the layers' decisions, the requests
 * and answers of models, the state, and the events. Adds the routes under `/inspect`. Contents are recorded in the memory of this process
 * until their session is deleted or erased. Credentials in them are hidden.
 *
 * @throws AlliumError `server.options`
 * @example
 * server(agent, { principal, inspect: inspector({ access: ({ role }) => (role === 'admin' ? 'tenant' : undefined) }) })
 */
export function inspector(options: InspectorOptions): Inspect {
  checkOptions(options, optionKeys, 'inspector()', 'server.options')
  if (typeof options?.access !== 'function')
    throw new AlliumError(
      'server.options',
      "inspector() needs access: (principal) => …, which returns 'own', 'tenant' or 'all'.",
    )
  if (options.readOnly !== undefined) checkReadOnlyStore(options.readOnly)
  const log = new TraceLog({ maxRecords: options.maxRecords ?? 200_000, maxSize: options.maxSize ?? 32 * 1_048_576 })
  const costOf = createPricing(options.prices)

  return {
    watch(agents: Iterable<ServedAgent>, events: EventLog): EventLog {
      for (const agent of agents) {
        const { layers } = agent.inspect()
        // Also for the turns of sub-agents, which run its inherited layers.
        const [sessionAgent = agent.name] = agent.sessionNames
        const isRedacting = ({ order }: (typeof layers)[number]) => order.is?.includes('redacts') === true
        const allKeys = layers.filter((layer) => !isRedacting(layer)).flatMap(({ state }) => state)
        const stateKeys = options.state === 'all' ? allKeys : (options.state ?? [])
        // Inside a layer that redacts, a tool gets the original values.
        const showsChanges = !layers.some(isRedacting)
        const onSpan = createTurnRecorder({
          run: (key, turnId) => log.run({ ...key, agent: sessionAgent }, turnId),
          add: (run, record) => log.add(run, record),
          stateKeys,
          showsChanges,
          costOf,
        })
        agent.use(onion({ as: 'server:inspect', maxTurns: 50, onSpan }))
      }
      return watchedEvents(events, log)
    },
    routes: (serve: Serve, host: Access & Stores & RunReader & Limits & Seals) =>
      inspectRoutes(serve, host, { log, access: options.access, readOnly: options.readOnly }),
  }
}
