import {
  AbortError,
  type Clock,
  defineMiddleware,
  followSignal,
  layerOptions,
  type ModelResponse,
  messageOf,
  misconfigured,
  option,
  sessionKeyOf,
  type ToolResult,
  type TurnContext,
  type TypedMiddleware,
} from '@allium/core'
import { detailOf, decisionOf as endOf } from '../failure.ts'
import { placeOf } from '../place.ts'
import type { AuditHead, Patience } from './chain.ts'
import { Chains } from './chains.ts'
import type { AuditFile } from './file.ts'
import { type AuditFields, Content, decisionOf, errorFields, settled, textsOf } from './record.ts'
import { digestWith } from './seal.ts'
import { type AuditSinkInput, toSinks } from './to-sink.ts'

export interface AuditOptions {
  /** Takes the records, one line each: the path of a file, as `auditFile(path)` is, a function, `audit` of a store, which keeps a chain for each tenant. */
  sink: AuditSinkInput
  /** Whether inputs, arguments, results, answers and error messages are kept. Else their digests are. @default false */
  content?: boolean | undefined
  /** Seals records and digests with HMAC, so that only who knows it can write a chain, or guess at what was digested. @default none: SHA-256 */
  secret?: string | Uint8Array | undefined
  /** Where a record cannot be kept: block the turn, so that nothing happens off the record, or go on. @default 'block' */
  onError?: 'block' | 'allow' | undefined
  /** Milliseconds that `block` waits for the sink. `allow` never waits. @default 5000 */
  timeout?: number | undefined
  /** The layer's name. @default 'observe:audit' */
  as?: string | undefined
}

export interface Audit extends TypedMiddleware<{}> {
  /**
   * The end of the chain so far. Keep it elsewhere now and then, for `verify(source, { head })`.
   *
   * @param tenant whose chain, where the sink has one for each tenant
   */
  head(tenant?: string): AuditHead | undefined
  /** Settles once no record waits to be written. */
  flush(): Promise<void>
}

const readOptions = layerOptions<AuditOptions>('observe:audit', {
  sink: option.required(
    option.either(option.text, option.fn, option.object),
    'the path of a file, a function, or an object that appends',
  ),
  content: option.flag,
  secret: option.any,
  onError: option.oneOf('block', 'allow'),
  timeout: option.number({ above: 0 }),
})

/**
 * Writes down who did what: turns, model calls, tool calls with what was decided of them, in a chain of hashes in which
 * `verify` finds each change.
 *
 * For compliance, and to see what an agent did for whom. Register it inside what redacts, and outside what decides. A
 * tool call is on record before it runs; what a sub-agent does is on its parent's record.
 *
 * @example
 * agent.use(observe.audit({ sink: 'audit.jsonl' }))
 */
export function audit(given: AuditOptions): Audit {
  const options = readOptions(given)
  const { sink, content = false, secret, onError = 'block', timeout = 5000, as = 'observe:audit' } = options
  if ('secret' in options && secret === undefined)
    throw misconfigured(
      as,
      'was given a secret that is undefined, and would sign nothing. Is its variable set? Without a secret, leave it out.',
    )
  const digest = digestWith(secret)
  const sinkOf = toSinks(sink)
  const chains = new Chains(sinkOf, digest, typeof sink === 'object' && 'chainOf' in sink)

  const layer = defineMiddleware({
    name: as,
    order: { is: ['persists'] },
    inherit: true,
    async agent(ctx, next) {
      await next()
      await within(chains.flush(), timeout, ctx.clock).catch(() => {})
      // A file of its own; it opens again where another agent writes on.
      if (typeof sink === 'string') await (sinkOf('') as AuditFile).close().catch(() => {})
    },
    async turn(ctx, next) {
      ctx.onEnd(({ status, reason, error, usage }) =>
        written(ctx, 'turn:end', { status, ...whyOf({ status, reason, error }), usage }),
      )
      let steered = 0
      ctx.onInput((message, about) =>
        about.steered ? keep(ctx, 'turn:steer', { input: textsOf([message]) }, String(++steered)) : undefined,
      )
      // As layers outside have left it; what comes later is on record, too.
      await keep(ctx, ctx.resumed ? 'turn:resume' : 'turn:start', { input: textsOf(ctx.plan.input) })
      await next()
    },
    model(ctx, next) {
      const { callIndex: call, attempt } = ctx
      return around(ctx, 'model', { call, attempt }, { model: ctx.model }, next, answered)
    },
    tool(ctx, next) {
      const { callId, attempt } = ctx
      const args = new Content(ctx.args)
      const begin = { tool: ctx.tool.name, args, ...decisionOf(ctx.approval, ctx.decidedBy) }
      return around(ctx, 'tool', { callId, attempt }, begin, next, (result) => {
        const ran = new Content(ctx.args)
        return { tool: ctx.tool.name, ...(!ran.equals(args) && { args: ran }), ...cameTo(result) }
      })
    },
  })
  return Object.assign(layer, { head: (tenant?: string) => chains.of(tenant).head, flush: () => chains.flush() })

  /** A record before, and one behind, whichever way it ends. */
  async function around<R>(
    ctx: TurnContext,
    what: 'model' | 'tool',
    id: AuditFields,
    begin: AuditFields,
    next: () => Promise<R>,
    tell: (result: R) => AuditFields,
  ): Promise<R> {
    const key = Object.values(id).join(':')
    await keep(ctx, `${what}:start`, { ...id, ...begin }, key)
    let result: R
    try {
      result = await next()
    } catch (error) {
      const status = endOf(error)
      const writing = written(ctx, `${what}:end`, { ...id, status, ...whyOf({ status, error }) }, key)
      const wrote = writing.catch((fault) => complain(ctx, fault))
      if (!ctx.signal.aborted) await orAborted(wrote, ctx.signal).catch(() => {})
      throw error
    }
    await keep(ctx, `${what}:end`, { ...id, ...tell(result) }, key)
    return result
  }

  /** Writes a record, or ends the turn where it must not go on without. An abort does not wait for the sink. */
  async function keep(ctx: TurnContext, type: string, fields: AuditFields, key?: string): Promise<void> {
    try {
      await orAborted(written(ctx, type, fields, key), ctx.signal)
    } catch (error) {
      if (ctx.signal.aborted) throw error
      complain(ctx, error)
      if (onError === 'block') ctx.block('The audit record could not be kept.')
    }
  }

  /** Once, also where the run is replayed. Where it may go on without, nothing waits. */
  async function written(ctx: TurnContext, type: string, fields: AuditFields, key = ''): Promise<void> {
    const place = placeOf(ctx)
    const chain = chains.of(place.tenant)
    const record = { at: new Date(ctx.clock.now()).toISOString(), type, ...place, ...fields }
    const patience: Patience = onError === 'block' ? (work) => within(work, timeout, ctx.clock) : (work) => work
    const writing = ctx.once(`${as}:${ctx.turnId}:${type}:${key}`, async () =>
      chain.append(
        { key: await keyOf(ctx, [as, type, key]), fields: () => settled(record, digest, content) },
        patience,
      ),
    )
    if (onError === 'block') return writing
    writing.catch((error) => complain(ctx, error))
  }

  /** A run that goes on in another process writes its records there. */
  function complain({ logger }: TurnContext, error: unknown): void {
    if (error instanceof AbortError) return
    logger.error(`The layer "${as}" could not keep a record: ${messageOf(error)}`, { error })
  }
}

function answered({ model, finishReason, usage, toolCalls, text }: ModelResponse): AuditFields {
  const calls = toolCalls.map(({ callId, name }) => ({ callId, name }))
  return { status: 'ok', model, finishReason, usage, calls, answer: new Content(text) }
}

function cameTo({ status, content, error }: ToolResult): AuditFields {
  const reason = status === 'denied' && typeof content === 'string' ? { reason: cut(content) } : {}
  return { status, ...reason, result: new Content(content), ...(error !== undefined && errorFields(error)) }
}

/** What a record is known by, in each life of its run: an id of one's own may name a run in many sessions. */
async function keyOf(ctx: TurnContext, place: readonly string[]): Promise<string> {
  return (await plainDigest(JSON.stringify([sessionKeyOf(ctx), ctx.turnId, ...place]))).slice(0, 32)
}

const plainDigest = digestWith(undefined)

/** A reason that somebody gave is told as it is, the message of an error is content. */
function whyOf({
  status,
  reason,
  error,
}: {
  status: string
  reason?: string | undefined
  error?: unknown
}): AuditFields {
  if (status === 'failed') return errorFields(error)
  if (error !== undefined) return { reason: cut(detailOf(error)) }
  return reason === undefined ? {} : { reason: cut(reason) }
}

const cut = (text: string): string => text.slice(0, 300)

/** Rejects where the work takes longer; it goes on then, and what it rejects with is dropped. */
function within<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(`The audit sink took longer than ${ms} ms.`)))
    work.then(resolve, reject).finally(cancel)
  })
}

/** Rejects with the abort's reason, if it comes first. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = followSignal(signal, reject)
    work.then(resolve, reject).finally(release)
  })
}
