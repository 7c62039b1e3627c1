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
import { decisionOfError as endOf, errorDetail } from '../failure.ts'
import { runLocation } from '../run-location.ts'
import type { ApplyTimeout, AuditHead } from './chain.ts'
import { Chains } from './chains.ts'
import type { AuditFile } from './file.ts'
import { type AuditFields, approvalFields, Content, contentOfMessages, errorFields, resolveFields } from './record.ts'
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
  const sinkFor = toSinks(sink)
  const chains = new Chains(sinkFor, digest, typeof sink === 'object' && 'chainOf' in sink)

  const layer = defineMiddleware({
    name: as,
    order: { is: ['persists'] },
    inherit: true,
    async agent(ctx, next) {
      await next()
      await withTimeout(chains.flush(), timeout, ctx.clock).catch(() => {})
      // A file of its own; it opens again where another agent writes on.
      if (typeof sink === 'string') await (sinkFor('') as AuditFile).close().catch(() => {})
    },
    async turn(ctx, next) {
      ctx.onEnd(({ status, reason, error, usage }) =>
        appendRecord(ctx, 'turn:end', { status, ...reasonFields({ status, reason, error }), usage }),
      )
      let steerCount = 0
      ctx.onInput((message, about) =>
        about.steered
          ? writeRecord(ctx, 'turn:steer', { input: contentOfMessages([message]) }, String(++steerCount))
          : undefined,
      )
      // As layers outside have left it; what comes later is on record, too.
      await writeRecord(ctx, ctx.resumed ? 'turn:resume' : 'turn:start', { input: contentOfMessages(ctx.plan.input) })
      await next()
    },
    model(ctx, next) {
      const { callIndex: call, attempt } = ctx
      return auditCall(ctx, 'model', { call, attempt }, { model: ctx.model }, next, responseFields)
    },
    tool(ctx, next) {
      const { callId, attempt } = ctx
      const args = new Content(ctx.args)
      const beginFields = { tool: ctx.tool.name, args, ...approvalFields(ctx.approval, ctx.decidedBy) }
      return auditCall(ctx, 'tool', { callId, attempt }, beginFields, next, (result) => {
        const executedArgs = new Content(ctx.args)
        return {
          tool: ctx.tool.name,
          ...(!executedArgs.equals(args) && { args: executedArgs }),
          ...resultFields(result),
        }
      })
    },
  })
  return Object.assign(layer, { head: (tenant?: string) => chains.for(tenant).head, flush: () => chains.flush() })

  /** A record before, and one behind, whichever way it ends. */
  async function auditCall<R>(
    ctx: TurnContext,
    what: 'model' | 'tool',
    id: AuditFields,
    beginFields: AuditFields,
    next: () => Promise<R>,
    tell: (result: R) => AuditFields,
  ): Promise<R> {
    const key = Object.values(id).join(':')
    await writeRecord(ctx, `${what}:start`, { ...id, ...beginFields }, key)
    let result: R
    try {
      result = await next()
    } catch (error) {
      const status = endOf(error)
      const pendingWrite = appendRecord(ctx, `${what}:end`, { ...id, status, ...reasonFields({ status, error }) }, key)
      const reportedWrite = pendingWrite.catch((fault) => logFailure(ctx, fault))
      if (!ctx.signal.aborted) await rejectOnAbort(reportedWrite, ctx.signal).catch(() => {})
      throw error
    }
    await writeRecord(ctx, `${what}:end`, { ...id, ...tell(result) }, key)
    return result
  }

  /** Writes a record, or ends the turn where it must not go on without. An abort does not wait for the sink. */
  async function writeRecord(ctx: TurnContext, type: string, fields: AuditFields, key?: string): Promise<void> {
    try {
      await rejectOnAbort(appendRecord(ctx, type, fields, key), ctx.signal)
    } catch (error) {
      if (ctx.signal.aborted) throw error
      logFailure(ctx, error)
      if (onError === 'block') ctx.block('The audit record could not be kept.')
    }
  }

  /** Once, also where the run is replayed. Where it may go on without, nothing waits. */
  async function appendRecord(ctx: TurnContext, type: string, fields: AuditFields, key = ''): Promise<void> {
    const location = runLocation(ctx)
    const chain = chains.for(location.tenant)
    const record = { at: new Date(ctx.clock.now()).toISOString(), type, ...location, ...fields }
    const applyTimeout: ApplyTimeout =
      onError === 'block' ? (work) => withTimeout(work, timeout, ctx.clock) : (work) => work
    const pendingWrite = ctx.once(`${as}:${ctx.turnId}:${type}:${key}`, async () =>
      chain.append(
        { key: await recordKey(ctx, [as, type, key]), fields: () => resolveFields(record, digest, content) },
        applyTimeout,
      ),
    )
    if (onError === 'block') return pendingWrite
    pendingWrite.catch((error) => logFailure(ctx, error))
  }

  /** A run that goes on in another process writes its records there. */
  function logFailure({ logger }: TurnContext, error: unknown): void {
    if (error instanceof AbortError) return
    logger.error(`The layer "${as}" could not keep a record: ${messageOf(error)}`, { error })
  }
}

function responseFields({ model, finishReason, usage, toolCalls, text }: ModelResponse): AuditFields {
  const calls = toolCalls.map(({ callId, name }) => ({ callId, name }))
  return { status: 'ok', model, finishReason, usage, calls, answer: new Content(text) }
}

function resultFields({ status, content, error }: ToolResult): AuditFields {
  const reason = status === 'denied' && typeof content === 'string' ? { reason: truncate(content) } : {}
  return { status, ...reason, result: new Content(content), ...(error !== undefined && errorFields(error)) }
}

/** What a record is known by, in each life of its run: an id of one's own may name a run in many sessions. */
async function recordKey(ctx: TurnContext, location: readonly string[]): Promise<string> {
  return (await plainDigest(JSON.stringify([sessionKeyOf(ctx), ctx.turnId, ...location]))).slice(0, 32)
}

const plainDigest = digestWith(undefined)

/** A reason that somebody gave is told as it is, the message of an error is content. */
function reasonFields({
  status,
  reason,
  error,
}: {
  status: string
  reason?: string | undefined
  error?: unknown
}): AuditFields {
  if (status === 'failed') return errorFields(error)
  if (error !== undefined) return { reason: truncate(errorDetail(error)) }
  return reason === undefined ? {} : { reason: truncate(reason) }
}

const truncate = (text: string): string => text.slice(0, 300)

/** Rejects where the work takes longer; it goes on then, and what it rejects with is dropped. */
function withTimeout<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(`The audit sink took longer than ${ms} ms.`)))
    work.then(resolve, reject).finally(cancel)
  })
}

/** Rejects with the abort's reason, if it comes first. */
function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const unfollow = followSignal(signal, reject)
    work.then(resolve, reject).finally(unfollow)
  })
}
