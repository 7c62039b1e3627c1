import { Agent, type RunStatus } from '@allium/core'
import { setOrderRules } from '@allium/core/internal'
import { sessionStorage } from '@allium/memory/session-storage'
import { orderRules } from '@allium/shared/order'
import { type AgentStore, sharedStore } from '@allium/store'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { textOfInput, valueOfInput } from './input.ts'
import { workflowLayer } from './layer.ts'
import { checkWorkflow, type WorkflowOptions } from './options.ts'
import { valueOfText } from './values.ts'

type GivenInput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : unknown

/** The outcome of a run: the result of `run()`, or the information of `get()` of a durable run. */
interface Outcome {
  readonly status: RunStatus | 'queued' | 'running'
  readonly text?: string | undefined
}

/**
 * A workflow is an agent whose next steps come from code instead of a model. `durable()`, schedules, operations, servers, approvals and layers
 * take it as they take any agent.
 */
export class Workflow<S extends StandardSchemaV1 | undefined, R> extends Agent {
  /** The option `store`. A server reads sessions and events from it. */
  readonly store?: AgentStore | undefined
  readonly #schema: S | undefined

  constructor(options: WorkflowOptions<S, R>) {
    checkWorkflow(options)
    setOrderRules(orderRules)
    const { schema, run, store, maxSteps = 1000, concurrency, ...ofAgent } = options
    super({
      ...ofAgent,
      maxSteps,
      ...(concurrency !== undefined && { toolConcurrency: concurrency }),
      model: { id: 'workflow', stream: noModel },
    })
    this.store = store
    this.#schema = schema
    if (store !== undefined) this.use([sessionStorage({ store: store.sessions }), storeLayer(store)])
    this.use(workflowLayer({ name: options.name, run: run as never, parse: (text) => valueOfInput(text, schema) }))
  }

  /**
   * Returns the input of a run as text: `runs.start({ input: refund.input({ orderId: "o-17" }) })`.
   *
   * @throws AlliumError `message.invalid` if it does not fit the schema
   */
  input(value: GivenInput<S>): string {
    return textOfInput(value, this.#schema)
  }

  /** Returns the result of a completed run; undefined for one that has no result yet, or none at all. */
  result({ status, text }: Outcome): Awaited<R> | undefined {
    return status === 'completed' && text !== undefined ? (valueOfText(text) as Awaited<R>) : undefined
  }
}

/**
 * Creates a workflow: code whose steps run once, whichever process executes them.
 *
 * @throws AlliumError `options.invalid`
 * @example
 * const refund = workflow({
 *   name: 'refund',
 *   version: '1',
 *   schema: z.object({ orderId: z.string() }),
 *   store,
 *   async run(ctx) {
 *     const order = await ctx.step('load', () => orders.find(ctx.input.orderId))
 *     if (order.amount > 100 && !(await ctx.approval('refund', { details: order })).approved) return 'denied'
 *     await ctx.step('pay back', ({ idempotencyKey }) => bank.payBack(order, idempotencyKey), { retry: { attempts: 5 } })
 *     return 'paid back'
 *   },
 * })
 * const runs = durable(refund, { store })
 * await runs.start({ principal, input: refund.input({ orderId: 'o-17' }) })
 */
export function workflow<R, S extends StandardSchemaV1 | undefined = undefined>(
  options: WorkflowOptions<S, R>,
): Workflow<S, R> {
  return new Workflow(options)
}

// biome-ignore lint/correctness/useYield: its layer answers every call
async function* noModel(): AsyncGenerator<never> {
  throw new Error('A workflow has no model.')
}

function storeLayer(store: AgentStore) {
  return {
    name: 'workflow:store',
    provides: [sharedStore],
    async agent(ctx: { provide(capability: typeof sharedStore, store: AgentStore): void }, next: () => Promise<void>) {
      ctx.provide(sharedStore, store)
      await next()
    },
  }
}
