import {
  AlliumError,
  type AnyTool,
  type Capability,
  capability,
  defineMiddleware,
  layerOptions,
  type Message,
  misconfigured,
  option,
  type SessionContext,
  type ToolExecution,
  type TypedMiddleware,
  toolResult,
} from '@allium/core'
import { type PassageStore, type SessionStore, sharedStore } from '@allium/store'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type BlockPatch, BlockSchema } from './block-schema.ts'
import { type Block, blockKey, editBlock, openBlock } from './stored-block.ts'
import { hideTool, isOff, offProblem } from './switch.ts'

export interface WorkingOptions {
  /** The fields of the block: a Standard Schema of an object whose fields are optional. */
  schema: StandardSchemaV1
  /** The JSON Schema, for a `schema` that cannot return it. @default the schema's own */
  jsonSchema?: object | undefined
  /** The maximum size of a block as JSON, in UTF-8 bytes. @default 2_000 */
  maxBytes?: number | undefined
  /** Whether a person must approve each change before it is stored. @default false */
  requireApproval?: AnyTool['requireApproval'] | undefined
  /** The store of the blocks. @default the `sessions` of the agent's store */
  store?: SessionStore | undefined
  /** Where people and operators switch memory off: `store.passages`. @default the `passages` of the agent's store, else it is always on */
  passages?: PassageStore | undefined
  /** The tool's name. @default 'update_memory' */
  name?: string | undefined
  /** The tool's description for the model: what to remember. @default to keep what helps in later conversations */
  description?: string | undefined
  /** The layer's name. @default 'memory:working' */
  as?: string | undefined
}

/** The model has changed the block of a person. */
export interface WorkingMemoryChanged {
  type: 'memory:working'
  layer: string
  /** The number of changes up to this one. */
  version: number
}

declare module '@allium/core' {
  interface AgentEvents {
    'memory:working': WorkingMemoryChanged
  }
}

const readOptions = layerOptions<WorkingOptions>('memory:working', {
  schema: option.required(option.any, 'the fields of the block'),
  jsonSchema: option.object,
  maxBytes: option.number({ from: 1 }),
  requireApproval: option.either(option.flag, option.fn),
  store: option.object,
  passages: option.object,
  name: option.text,
  description: option.text,
})

/** Changes the block of the person, for the tool. */
type EditOfTurn = (patch: BlockPatch, ctx: ToolExecution) => ReturnType<typeof editBlock>

/**
 * Keeps a small typed block for each person: the model changes it by a tool, and sees it in all conversations of that person.
 *
 * The block is stored with the person's tenant and user, and erased with them. It is a note after the instructions, and stays the same
 * within a turn, so a provider's prompt cache is only lost after a change. Sub-agents do not see it. While memory is off for the person, the
 * model sees neither the block nor the tool, and nothing is stored.
 *
 * @throws AlliumError `layer.config` for invalid options, and from `init()` for a schema that an empty block does not fit;
 * `session.principal` from the first run of a session without a tenant or a user
 * @example
 * agent.use(memory.working({ schema: z.object({ name: z.string().optional(), language: z.string().optional() }) }))
 */
export function working(given: WorkingOptions): TypedMiddleware<{}> {
  const options = readOptions(given)
  const { name: tool = defaultName, as = 'memory:working', maxBytes = 2_000 } = options
  const schema = new BlockSchema(as, options.schema, options.jsonSchema, maxBytes)
  const edits = capability<EditOfTurn>(`allium:${as}`)

  return defineMiddleware({
    name: as,
    order: { is: ['shapes'], inside: ['memory:compact', 'memory:truncate'] },
    provides: [edits],
    tools: [editTool(options, { as, schema, edits })],
    async agent(_ctx, next) {
      await schema.checkEmpty(as)
      await next()
    },
    async session(ctx, next) {
      checkPerson(ctx, as)
      const store = storeOf(ctx, options.store, as)
      const [name, ...formerNames] = ctx.agent.sessionNames
      const place = (agent: string | undefined) => blockKey(ctx.sessionKey, agent ?? '', as)
      const formerPlaces = formerNames.map((former) => place(former).agent)
      if (formerPlaces.length > 0) await store.rename(place(name), formerPlaces)
      await next()
    },
    async turn(ctx, next) {
      const { turnId, clock } = ctx
      const store = storeOf(ctx, options.store, as)
      const key = blockKey(ctx.sessionKey, ctx.agent.sessionNames[0] ?? '', as)
      const memory = options.passages ?? ctx.find(sharedStore)?.passages
      const open = async () => ((await isOff(memory, key)) ? null : openBlock(store, key, { turnId, at: clock.now() }))
      const opened = await ctx.once(`${as}:block`, open, { per: 'attempt' })
      ctx.metadata[as] = opened && schema.known(opened.block)
      ctx.provide(edits, async (patch, { stepId }) => {
        // A replayed turn has opened the block before it was switched off.
        if (opened === null || (await isOff(memory, key))) return { problem: offProblem }
        const apply = async (current: Block) => ((await isOff(memory, key)) ? offProblem : schema.patch(current, patch))
        return editBlock(store, key, { opened: opened.id, turnId: `${turnId}/${stepId}`, at: clock.now(), apply })
      })
      return next()
    },
    model(ctx, next) {
      const block = ctx.metadata[as] as Block | null
      if (block === null) hideTool(ctx, tool)
      else if (Object.keys(block).length > 0) {
        const { messages } = ctx
        const first = messages.findIndex(({ role }) => role !== 'system')
        messages.splice(first === -1 ? messages.length : first, 0, noteOf(block, tool))
        ctx.messages = messages
      }
      return next()
    },
  })
}

const defaultName = 'update_memory'
const defaultDescription =
  'Changes what you keep about this person for all later conversations. Write what they tell you and what stays true, such as their name and wishes. Remove what is no longer true. Do not write what only matters now.'

/** Sent as a user message instead of an instruction, because the text comes from conversations. */
function noteOf(block: Block, tool: string): Message {
  const about = `(A note, not a message of the user: what you keep about this person. Change it with "${tool}".)`
  return { role: 'user', content: `${about}\n${JSON.stringify(block)}` }
}

/** @throws AlliumError `session.principal` */
function checkPerson({ sessionKey: { tenant, owner } }: Pick<SessionContext, 'sessionKey'>, layer: string): void {
  const missing = tenant === '' ? 'tenantId' : owner === '' ? 'userId' : undefined
  if (missing === undefined) return
  throw new AlliumError(
    'session.principal',
    `"${layer}" keeps a block for each person, but this session's principal has no ${missing}. Open it with agent.session({ principal: { tenantId, userId } }).`,
    { details: { layer } },
  )
}

function storeOf(ctx: Pick<SessionContext, 'find'>, given: SessionStore | undefined, layer: string): SessionStore {
  const store = given ?? ctx.find(sharedStore)?.sessions
  if (store !== undefined) return store
  throw misconfigured(layer, 'has no store. Pass one to the agent, new Agent({ store }), or to the layer as "store".')
}

/** Returns the tool that edits the block. */
function editTool(
  { name = defaultName, description = defaultDescription, requireApproval }: WorkingOptions,
  { as, schema, edits }: { as: string; schema: BlockSchema; edits: Capability<EditOfTurn> },
): AnyTool {
  return {
    name,
    description,
    // Others may have written the text that it stores, and later conversations read it without labels.
    flow: { writes: true },
    jsonSchema: schema.toolSchema,
    onInterrupted: 'retry',
    ...(requireApproval !== undefined && { requireApproval }),
    async execute(patch: BlockPatch, ctx: ToolExecution) {
      const edited = await ctx.find(edits)?.(patch, ctx)
      if (edited === undefined || edited === 'unchanged') return 'Nothing has changed.'
      if ('problem' in edited) return toolResult({ content: `Not stored: ${edited.problem}.`, isError: true })
      ctx.emit({ type: 'memory:working', layer: as, version: edited.version } satisfies WorkingMemoryChanged)
      return `Stored. It is now: ${JSON.stringify(edited.block)}`
    },
  } satisfies AnyTool as AnyTool
}
