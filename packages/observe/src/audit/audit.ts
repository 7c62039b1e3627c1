import {
  AbortError,
  defineMiddleware,
  followSignal,
  layerOptions,
  type ModelResponse,
  messageOf,
  misconfigured,
  option,
  sessionKeyOf,
  type ToolResult,
  type TurnView,
  type TypedMiddleware,
} from '@allium/core'
import { approverOf, isResumed } from '@allium/core/context'
import { decisionOfError as endOf, errorDetail } from '../failure.ts'
import { runLocation } from '../run-location.ts'
import type { ApplyTimeout, AuditHead } from './chain.ts'
import { Chains } from './chains.ts'
import type { AuditFile } from './file.ts'
import { type GivenUpRun, recordsEnds } from './given-up.ts'
import { type AuditFields, approvalFields, Content, contentOfMessages, errorFields, resolveFields } from './record.ts'
import { digestWith } from './seal.ts'
import { withTimeout } from './timeout.ts'
import { type AuditSinkInput, toSinks } from './to-sink.ts'

export interface AuditOptions {
  /**
   * The destination of records, one line each: the path of a file (like `auditFile(path)`), a function, or `audit` of a store, which keeps
   * a chain per tenant.
   */
  sink: AuditSinkInput
  /** Whether to record inputs, arguments, results, answers and error messages. Otherwise only their digests are recorded. @default false */
  content?: boolean | undefined
  /**
   * Seals records and digests with HMAC. Without the secret it is impossible to write a valid chain or to guess digested content. @default
   * none: SHA-256
   */
  secret?: string | Uint8Array | undefined
  /** What to do if a record cannot be stored: block the turn, so that nothing happens off the record, or continue. @default 'block' */
  onError?: 'block' | 'allow' | undefined
  /** How long `block` waits for the sink, in milliseconds. `allow` never waits. @default 5000 */
  timeout?: number | undefined
  /** The layer's name. @default 'observe:audit' */
  as?: string | undefined
}

export interface Audit extends TypedMiddleware<{}> {
  /**
   * Returns the current end of the chain. Store it elsewhere from time to time, for `verify(source, { head })`.
   *
   * @param tenant the tenant of the chain, if the sink has one per tenant
   */
  head(tenant?: string): AuditHead | undefined
  /** Resolves once no record is waiting to be written. */
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
 * Records turns, model calls, and tool calls with their decisions in a hash chain, in which `verify` detects every change.
 *
 * Use it for compliance, and to see what an agent did for a user. Register it inside layers that redact and outside layers that decide.
 * A tool call is recorded before it runs. Calls of a sub-agent are recorded with those of its parent.
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
      'has a secret that is undefined, so it would sign nothing. Is its variable set? To go without a secret, omit it.',
    )
  const digest = digestWith(secret)
  const sinkFor = toSinks(sink)
  const chains = new Chains(sinkFor, digest, typeof sink === 'object' && 'chainOf' in sink)

  const layer = defineMiddleware({
    name: as,
    order: { is: ['persists'] },
    inherit: true,
    options: recordsEnds(recordGivenUp),
    async agent(ctx, next) {
      await next()
      await withTimeout(chains.flush(), timeout, ctx.clock).catch(() => {})
      // The layer opened the file itself. It opens again if another agent continues to write.
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
      // The input as outer layers left it; later input is recorded, too.
      await writeRecord(ctx, isResumed(ctx) ? 'turn:resume' : 'turn:start', {
        input: contentOfMessages(ctx.plan.input),
      })
      await next()
    },
    model(ctx, next) {
      const { callIndex: call, attempt } = ctx
      return auditCall(ctx, 'model', { call, attempt }, { model: ctx.model }, next, responseFields)
    },
    tool(ctx, next) {
      const { callId, attempt } = ctx
      const args = new Content(ctx.args)
      const beginFields = { tool: ctx.tool.name, args, ...approvalFields(ctx.approval, approverOf(ctx)) }
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

  /** Writes a record before and after a call, however it ends. */
  async function auditCall<R>(
    ctx: TurnView,
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

  /** Writes a record. If that fails, blocks the turn unless errors are allowed. An abort does not wait for the sink. */
  async function writeRecord(ctx: TurnView, type: string, fields: AuditFields, key?: string): Promise<void> {
    try {
      await rejectOnAbort(appendRecord(ctx, type, fields, key), ctx.signal)
    } catch (error) {
      if (ctx.signal.aborted) throw error
      logFailure(ctx, error)
      if (onError === 'block') ctx.block('The audit record could not be stored.')
    }
  }

  /** Appends a record once, also across replays. With `allow`, the caller does not wait. */
  async function appendRecord(ctx: TurnView, type: string, fields: AuditFields, key = ''): Promise<void> {
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

  /** Records the end of a run that no layer saw. A retried run goes on, so each of its ends has a record of its own. */
  async function recordGivenUp({ key, turnId, agent, code, reason, queuedAt, clock }: GivenUpRun): Promise<void> {
    const { tenant, owner, sessionId } = key
    const record = {
      at: new Date(clock.now()).toISOString(),
      type: 'turn:end',
      ...(tenant !== '' && { tenant }),
      ...(owner !== '' && { user: owner }),
      ...{ agent, session: sessionId, turn: turnId, status: 'failed', givenUp: true },
      ...{ error: code, message: new Content(reason) },
    }
    await chains.for(tenant).append(
      {
        key: await recordKey({ sessionKey: key, turnId }, [as, 'given-up', String(queuedAt)]),
        fields: () => resolveFields(record, digest, content),
      },
      (work) => withTimeout(work, timeout, clock),
    )
  }

  /** An AbortError is not logged: the run continues in another process, which writes the records. */
  function logFailure({ logger }: TurnView, error: unknown): void {
    if (error instanceof AbortError) return
    logger.error(`The layer "${as}" could not store a record: ${messageOf(error)}`, { error })
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

/**
 * Returns the key of a record, the same each time its run is restarted. It includes the session, because a custom turn id may be used in
 * many sessions.
 */
async function recordKey(run: Pick<TurnView, 'sessionKey' | 'turnId'>, location: readonly string[]): Promise<string> {
  return (await plainDigest(JSON.stringify([sessionKeyOf(run), run.turnId, ...location]))).slice(0, 32)
}

const plainDigest = digestWith(undefined)

/** A reason that a layer gave is recorded in clear text; an error's message is content. */
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

/** Rejects with the abort's reason if the abort comes first. */
function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const unfollow = followSignal(signal, reject)
    work.then(resolve, reject).finally(unfollow)
  })
}
