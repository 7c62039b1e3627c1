import { AbortError, type Clock, followSignal, messageOf, sessionKeyOf, type TurnView } from '@allium/core'
import { decisionOfError as endOf } from '../failure.ts'
import { runLocation } from '../run-location.ts'
import type { AuditHead } from './chain.ts'
import { Chains } from './chains.ts'
import { type AuditFile, auditFile } from './file.ts'
import type { GivenUpRun } from './given-up.ts'
import { type AuditFields, Content, reasonFields, resolveFields } from './record.ts'
import { type Digest, digestWith } from './seal.ts'
import { withTimeout } from './timeout.ts'
import { type AuditSinkInput, toSinks } from './to-sink.ts'

export interface TrailSettings {
  /** The layer's name. */
  readonly as: string
  readonly sink: AuditSinkInput
  readonly secret: string | Uint8Array | undefined
  /** Whether content is recorded in clear text. */
  readonly content: boolean
  readonly onError: 'block' | 'allow'
  /** How long `block` waits for the sink, in milliseconds. */
  readonly timeout: number
}

/** Something that happens in a turn. */
export interface AuditEvent {
  readonly type: string
  readonly fields: AuditFields
  /** Tells it from the other events of this type in the turn. */
  readonly key?: string
}

/** A model or tool call, as its records describe it. */
export interface AuditedCall<Result> {
  readonly what: 'model' | 'tool'
  readonly id: AuditFields
  readonly begin: AuditFields
  end(result: Result): AuditFields
}

/** Writes what happens in the turns of a layer to its chains. */
export class AuditTrail {
  readonly #settings: TrailSettings
  readonly #digest: Digest
  /** The layer opened the file itself. */
  readonly #file: AuditFile | undefined
  readonly #chains: Chains

  constructor(settings: TrailSettings) {
    const { sink, secret } = settings
    this.#settings = settings
    this.#digest = digestWith(secret)
    this.#file = typeof sink === 'string' ? auditFile(sink) : undefined
    this.#chains = new Chains(toSinks(this.#file ?? sink), this.#digest, typeof sink === 'object' && 'chainOf' in sink)
  }

  head(tenant?: string): AuditHead | undefined {
    return this.#chains.for(tenant).head
  }

  flush(): Promise<void> {
    return this.#chains.flush()
  }

  /** Waits for the last records. The file opens again if another agent continues to write. */
  async close(clock: Clock): Promise<void> {
    await withTimeout(this.flush(), this.#settings.timeout, clock).catch(() => {})
    await this.#file?.close().catch(() => {})
  }

  /** Records a call before it runs and after it, however it ends. */
  async around<Result>(
    ctx: TurnView,
    { what, id, begin, end }: AuditedCall<Result>,
    next: () => Promise<Result>,
  ): Promise<Result> {
    const key = Object.values(id).join(':')
    await this.record(ctx, { type: `${what}:start`, fields: { ...id, ...begin }, key })
    const ended = (fields: AuditFields) => ({ type: `${what}:end`, fields: { ...id, ...fields }, key })
    let result: Result
    try {
      result = await next()
    } catch (error) {
      const status = endOf(error)
      await this.#recordFailure(ctx, ended({ status, ...reasonFields({ status, error }) }))
      throw error
    }
    await this.record(ctx, ended(end(result)))
    return result
  }

  /** Records an event. If that fails, blocks the turn unless errors are allowed. An abort does not wait for the sink. */
  async record(ctx: TurnView, event: AuditEvent): Promise<void> {
    try {
      await rejectOnAbort(this.append(ctx, event), ctx.signal)
    } catch (error) {
      if (ctx.signal.aborted) throw error
      this.#logFailure(ctx, error)
      if (this.#settings.onError === 'block') ctx.block('The audit record could not be stored.')
    }
  }

  /** Records an event once, also across replays. With `allow`, the caller does not wait. */
  async append(ctx: TurnView, { type, fields, key = '' }: AuditEvent): Promise<void> {
    const { as, onError } = this.#settings
    const location = runLocation(ctx)
    const record = { at: timeOf(ctx), type, ...location, ...fields }
    const pendingWrite = ctx.once(`${as}:${ctx.turnId}:${type}:${key}`, async () => {
      const place = { tenant: location.tenant, key: await recordKey(ctx, [as, type, key]) }
      await this.#write(place, record, onError === 'block' ? ctx.clock : undefined)
    })
    if (onError === 'block') return pendingWrite
    pendingWrite.catch((error) => this.#logFailure(ctx, error))
  }

  /** Records the end of a run that no layer saw. A retried run goes on, so each of its ends has a record of its own. */
  async appendGivenUp({ key, turnId, agent, code, reason, queuedAt, clock }: GivenUpRun): Promise<void> {
    const { tenant, owner, sessionId } = key
    const record = {
      at: timeOf({ clock }),
      type: 'turn:end',
      ...(tenant !== '' && { tenant }),
      ...(owner !== '' && { user: owner }),
      ...{ agent, session: sessionId, turn: turnId, status: 'failed', givenUp: true },
      ...{ error: code, message: new Content(reason) },
    }
    const positions = [this.#settings.as, 'given-up', String(queuedAt)]
    await this.#write({ tenant, key: await recordKey({ sessionKey: key, turnId }, positions) }, record, clock)
  }

  /** Records the end of a call that failed. The error of the call goes first, so the sink's is only logged. */
  async #recordFailure(ctx: TurnView, event: AuditEvent): Promise<void> {
    const write = this.append(ctx, event).catch((fault) => this.#logFailure(ctx, fault))
    if (!ctx.signal.aborted) await rejectOnAbort(write, ctx.signal).catch(() => {})
  }

  /** Adds a record to the chain of a tenant. With a clock, it waits for the sink no longer than `timeout`. */
  #write(place: { tenant: string | undefined; key: string }, record: AuditFields, clock?: Clock): Promise<void> {
    const { content, timeout } = this.#settings
    return this.#chains
      .for(place.tenant)
      .append({ key: place.key, fields: () => resolveFields(record, this.#digest, content) }, (work) =>
        clock === undefined ? work : withTimeout(work, timeout, clock),
      )
  }

  /** An AbortError is not logged: the run continues in another process, which writes the records. */
  #logFailure({ logger }: TurnView, error: unknown): void {
    if (error instanceof AbortError) return
    logger.error(`The layer "${this.#settings.as}" could not store a record: ${messageOf(error)}`, { error })
  }
}

/**
 * Returns the key of a record, the same each time its run is restarted. It includes the session, because a custom turn id may be used in
 * many sessions.
 */
async function recordKey(run: Pick<TurnView, 'sessionKey' | 'turnId'>, positions: readonly string[]): Promise<string> {
  return (await plainDigest(JSON.stringify([sessionKeyOf(run), run.turnId, ...positions]))).slice(0, 32)
}

const plainDigest = digestWith(undefined)

function timeOf({ clock }: { clock: Clock }): string {
  return new Date(clock.now()).toISOString()
}

/** Rejects with the abort's reason if the abort comes first. */
function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const unfollow = followSignal(signal, reject)
    work.then(resolve, reject).finally(unfollow)
  })
}
