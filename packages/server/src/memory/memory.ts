import { AlliumError } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { workingMemory } from '@allium/memory/working'
import type { MakeRateCounter, PassageStore, SessionStore } from '@allium/store'
import { Rate } from '../feedback/rate.ts'
import type { Access, RunControl, Runtime, Seals, Stores } from '../host/host.ts'
import type { DeleteSession } from '../native/sessions.ts'
import type { ControlMemory, ServedAgent } from '../options/options.ts'
import type { Serve } from '../request/router.ts'
import { type Blocks, memoryRoutes } from './memory-routes.ts'
import { schemas } from './openapi-schemas.ts'

type WorkingOptions = Parameters<typeof workingMemory>[0]

/** A block that people may see and change: the options of its `memory.working`. */
export interface ControlledBlock {
  schema: NonNullable<WorkingOptions['schema']>
  jsonSchema?: object | undefined
  maxBytes?: number | undefined
  as?: string | undefined
  /** The store of the blocks. @default the sessions of the server */
  store?: SessionStore | undefined
}

export interface MemoryOptions {
  /** The options of each `memory.working` whose block people may see and change. @default none */
  blocks?: readonly ControlledBlock[] | undefined
  /** Where memory is switched off, and the passages of recall: `store.passages`. @default those of the store that the agent was created with */
  passages?: PassageStore | undefined
  /** How often a person may change what is remembered of them within a minute. @default 30 */
  perMinute?: number | undefined
  /** Counts that in all processes, such as `limits` of `redis()`. @default each process counts for itself */
  limits?: MakeRateCounter | undefined
}

const optionKeys: KeysOf<MemoryOptions> = { blocks: true, passages: true, perMinute: true, limits: true }

/**
 * Lets callers see, correct and delete what the agents remember of them, and switch it off: the passages of `memory.recall` and the blocks of
 * `memory.working`.
 *
 * @throws AlliumError `server.options`
 * @example
 * const profile = { schema: z.object({ name: z.string().optional() }) }
 * const agent = new Agent({ model, store }).use(memory.working(profile))
 * server(agent, { principal, memory: memory({ blocks: [profile] }) })
 */
export function memory(options: MemoryOptions = {}): ControlMemory {
  checkOptions(options, optionKeys, 'memory()', 'server.options')
  const { blocks = [], passages, perMinute = 30, limits } = options
  if (!Number.isSafeInteger(perMinute) || perMinute < 1)
    throw new AlliumError('server.options', `memory() got perMinute: ${String(perMinute)}. Pass a whole number from 1.`)
  const byName = new Map(blocks.map((block) => [block.as ?? 'memory:working', block]))
  if (byName.size < blocks.length)
    throw new AlliumError('server.options', 'memory() got two blocks of one layer. Pass the option `as` of each layer.')
  const passagesOf = (agent: ServedAgent) => passages ?? agent.store?.passages
  const blocksOf = (agent: ServedAgent, host: Stores & Runtime): Blocks =>
    new Map(
      [...byName].map(([as, { store = host.sessions, ...block }]) => {
        const [name = agent.name, ...formerAgents] = agent.sessionNames
        const place = { store, agent: name, formerAgents, as, passages: passagesOf(agent), clock: host.clock }
        return [as, workingMemory({ ...block, ...place })]
      }),
    )
  let rate: Rate | undefined
  return {
    schemas,
    routes(serve: Serve, host: Access & Stores & RunControl & Seals, deleteSession: DeleteSession) {
      const known = new Map<ServedAgent, Blocks>()
      for (const agent of host.agents.values()) {
        if (passagesOf(agent) === undefined) throw missingStore(agent.name)
        known.set(agent, blocksOf(agent, host))
      }
      rate ??= new Rate(perMinute, host.clock, limits, 'memory')
      memoryRoutes(serve, host, {
        rate,
        deleteSession,
        passagesOf: ({ agent }) => passagesOf(agent) as PassageStore,
        blocksOf: ({ agent }) => known.get(agent) as Blocks,
      })
    },
  }
}

function missingStore(agent: string): AlliumError {
  return new AlliumError(
    'server.options',
    `memory() has no store for the agent "${agent}". Create the agent with a store that has passages, such as sqlite('chats.db'), or pass memory({ passages: store.passages }).`,
  )
}
