import { AbortError, type Clock, followSignal, messageOf, sessionKeyOf, type TurnView } from '@allium/core'
import { decisionOfError as endOf } from '../failure.ts'
import { Reporters } from '../reporters.ts'
import { runLocation } from '../run-location.ts'
import type { AuditHead } from './chain.ts'
import { Chains } from './chains.ts'
import { type AuditFile, auditFile } from './file.ts'
import type { GivenUpRun } from './given-up.ts'
import { type AuditFields, Content, reasonFields, resolveFields } from './record.ts'
import { type Digest, digestWith } from './seal.ts'
import { withTimeout } from './timeout.ts'
import type { AuditSinkInput } from './to-sink.ts'

/** The options of `observe.audit`, which describes them. */
interface TrailOptions {
  readonly sink: AuditSinkInput
  readonly secret?: string | Uint8Array | undefined
  readonly content?: boolean | undefined
  readonly onError?: 'block' | 'allow' | undefined
  readonly timeout?: number | undefined
}

/** Something that happens in a turn. */
export interface AuditEvent extends AuditFields {
  readonly type: string
}

/** A model or tool call, as its records describe it. */
export interface AuditedCall<Result> {
  readonly what: 'model' | 'tool'
  readonly id: AuditFields
  readonly begin: AuditFields
  end(result: Result): AuditFields
}

const reporters = new Reporters<AuditTrail>()

/** Writes what happens in the turns of a layer to its chains. */
export class AuditTrail {
  readonly #layer: string
  readonly #digest: Digest
  readonly #sink: AuditSinkInput
  /** The layer opened the file itself. */
  readonly #file: AuditFile | undefined
  readonly #chains: Chains
  readonly #content: boolean
  readonly #blocks: boolean
  readonly #timeout: number

  constructor(layer: string, { sink, secret, content = false, onError = 'block', timeout = 5000 }: TrailOptions) {
    this.#layer = layer
    this.#sink = sink
    this.#digest = digestWith(secret)
    this.#file = typeof sink === 'string' ? auditFile(sink) : undefined
    this.#chains = new Chains(this.#file ?? sink, this.#digest)
    this.#content = content
    this.#blocks = onError === 'block'
    this.#timeout = timeout
  }

  head(tenant?: string): AuditHead | undefined {
    return this.#chains.for(tenant).head
  }

  flush(): Promise<void> {
    return this.#chains.flush()
  }

  /** Waits for the last records. The file opens again if another agent continues to write. */
  async close(clock: Clock): Promise<void> {
    await withTimeout(this.flush(), this.#timeout, clock).catch(() => {})
    await this.#file?.close().catch(() => {})
  }

  /** Whether the records of this turn are this layer's, and not those of an outer layer with the same sink. */
  reports(ctx: TurnView): boolean {
    return reporters.forTurn(ctx, this.#sink, this) === this
  }

  /** Records a call before it runs and after it, however it ends. */
  async around<Result>(
    ctx: TurnView,
    { what, id, begin, end }: AuditedCall<Result>,
    next: () => Promise<Result>,
  ): Promise<Result> {
    if (!this.reports(ctx)) return next()
    const key = Object.values(id).join(':')
    const type = `${what}:end`
    await this.record(ctx, { type: `${what}:start`, ...id, ...begin }, key)
    let result: Result
    try {
      result = await next()
    } catch (error) {
      const status = endOf(error)
      await this.#recordFailure(ctx, { type, ...id, status, ...reasonFields({ status, error }) }, key)
      throw error
    }
    await this.record(ctx, { type, ...id, ...end(result) }, key)
    return result
  }

  /**
   * Records an event. If that fails, blocks the turn unless errors are allowed. An abort does not wait for the sink.
   *
   * @param key tells the event from the others of its type in the turn
   */
  async record(ctx: TurnView, event: AuditEvent, key?: string): Promise<void> {
    try {
      await rejectOnAbort(this.append(ctx, event, key), ctx.signal)
    } catch (error) {
      if (ctx.signal.aborted) throw error
      this.#logFailure(ctx, error)
      if (this.#blocks) ctx.block('The audit record could not be stored.')
    }
  }

  /** Records an event once, also across replays. With `allow`, the caller does not wait. */
  async append(ctx: TurnView, { type, ...fields }: AuditEvent, key = ''): Promise<void> {
    const record = { at: timeOf(ctx), type, ...runLocation(ctx), ...fields }
    const pendingWrite = ctx.once(`${this.#layer}:${ctx.turnId}:${type}:${key}`, async () =>
      this.#write(await recordKey(ctx, [this.#layer, type, key]), record, this.#blocks ? ctx.clock : undefined),
    )
    if (this.#blocks) return pendingWrite
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
    const positions = [this.#layer, 'given-up', String(queuedAt)]
    await this.#write(await recordKey({ sessionKey: key, turnId }, positions), record, clock)
  }

  /** Records the end of a call that failed. The caller throws the error of the call, so that of the sink is only logged. */
  async #recordFailure(ctx: TurnView, event: AuditEvent, key: string): Promise<void> {
    const write = this.append(ctx, event, key).catch((fault) => this.#logFailure(ctx, fault))
    if (!ctx.signal.aborted) await rejectOnAbort(write, ctx.signal).catch(() => {})
  }

  /** Adds a record to the chain of its tenant. With a clock, it waits for the sink no longer than `timeout`. */
  #write(key: string, record: AuditFields & { tenant?: string }, clock: Clock | undefined): Promise<void> {
    const fields = () => resolveFields(record, this.#digest, this.#content)
    return this.#chains
      .for(record.tenant)
      .append({ key, fields }, (work) => (clock === undefined ? work : withTimeout(work, this.#timeout, clock)))
  }

  /** An AbortError is not logged: the run continues in another process, which writes the records. */
  #logFailure({ logger }: TurnView, error: unknown): void {
    if (error instanceof AbortError) return
    logger.error(`The layer "${this.#layer}" could not store a record: ${messageOf(error)}`, { error })
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
