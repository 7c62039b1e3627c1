import type { Message, ModelContext, ModelResponse, SessionKey, ToolContext, ToolResult } from '@allium/core'
import type { SpanEvent } from '@allium/observe'
import { type CallInput, changesBetween, commonPrefix, inputOf } from './call-input.ts'
import type { RecordedRun } from './recorded-run.ts'
import type { InspectRecord } from './records.ts'
import { reducersOf } from './state-reducers.ts'
import { StateWatch } from './state-watch.ts'

export interface TurnRecorderOptions {
  /** Returns the run of a turn. */
  run(key: SessionKey, turnId: string): RecordedRun
  /** Receives the records of a turn. */
  add(run: RecordedRun, record: InspectRecord): void
  /** The state keys whose values are recorded. */
  readonly stateKeys: readonly string[]
  /** Whether the contents of changes are recorded. Without them, records say only which fields a layer changed. */
  readonly showsChanges: boolean
  costOf(model: string, usage: ModelResponse['usage']): Promise<number | undefined>
}

/** Turns the spans of one agent into records. */
export function createTurnRecorder(options: TurnRecorderOptions) {
  const turns = new Map<string, RecordedTurn>()
  return (event: SpanEvent): void => {
    const { turnId } = event.turn
    let turn = turns.get(turnId)
    if (turn === undefined) {
      turn = new RecordedTurn(event, runOf(event), options)
      turns.set(turnId, turn)
      turn.run.openTurns++
    }
    turn.record(event)
    if (event.phase !== 'close' || event.parent !== undefined) return
    turns.delete(turnId)
    turn.run.openTurns--
  }

  /** Returns the run of a turn. The turn of a sub-agent belongs to the run that started it, because it is stored with that one. */
  function runOf({ turn, ctx }: SpanEvent): RecordedRun {
    const parent = [...turns.values()].find(
      ({ turnId, rootTurnId }) => turnId === turn.rootTurnId || rootTurnId === turn.rootTurnId,
    )
    const isSubAgent = turn.rootTurnId !== undefined && !turn.resumed && parent !== undefined
    return isSubAgent ? parent.run : options.run(ctx.sessionKey, turn.turnId)
  }
}

/** The records of one turn. */
class RecordedTurn {
  readonly turnId: string
  readonly rootTurnId: string | undefined
  readonly run: RecordedRun
  readonly #key: SessionKey
  readonly #options: TurnRecorderOptions
  readonly #state: StateWatch
  readonly #reducer: (key: string) => string | undefined
  /** The inputs that open spans received, by span. */
  readonly #inputs = new Map<number, CallInput>()
  #sent: readonly Message[] = []
  #tools: unknown

  constructor({ turn, ctx }: SpanEvent, run: RecordedRun, options: TurnRecorderOptions) {
    this.turnId = turn.turnId
    this.rootTurnId = turn.rootTurnId
    this.run = run
    this.#key = ctx.sessionKey
    this.#options = options
    this.#state = new StateWatch(options.stateKeys, ctx.state as Record<string, unknown>)
    this.#reducer = reducersOf(ctx)
    const { turnIndex, rootTurnId, resumed, agent } = turn
    const { sessionId, tenant, owner } = this.#key
    const { principal, startedAt } = ctx
    const root = rootTurnId === undefined ? {} : { rootTurnId }
    const at = { turnId: turn.turnId, sessionId, tenant, owner, agent }
    this.#add({ type: 'turn', ...at, principal, turnIndex, resumed, ...root, startedAt })
  }

  record(event: SpanEvent): void {
    const { phase, span, ctx, value } = event
    this.#recordState(event)
    if (phase === 'open') this.#open(event)
    if (phase === 'next' && !span.core) this.#changedInput(span.id, inputOf(span.scope, ctx))
    if (phase === 'returned' && event.inner !== undefined && !isUsual(event.inner)) this.#close(event.inner)
    if (phase !== 'close') return
    this.#inputs.delete(span.id)
    if (span.core && span.scope === 'model' && value !== undefined) this.#response(span.id, value as ModelResponse)
    this.#close(span, span.core && span.scope === 'tool' ? this.#errorOf(value) : undefined)
  }

  /** Returns the error that a tool threw. */
  #errorOf(value: unknown): string | undefined {
    const { error } = (value ?? {}) as Partial<ToolResult>
    if (error === undefined || !this.#options.showsChanges) return undefined
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }

  #open({ span, parent, ctx }: SpanEvent): void {
    const { id, layer, scope, core, subject, start } = span
    const [turnId, inside] = [this.turnId, parent === undefined ? {} : { parent }]
    this.#add({
      type: 'open',
      turnId,
      id,
      ...inside,
      layer,
      scope,
      core,
      ...(subject !== undefined && { subject }),
      ...(scope === 'tool' && { callId: (ctx as ToolContext).callId }),
      start,
    })
    if (core) return scope === 'model' ? this.#request(id, ctx as ModelContext) : undefined
    if (scope !== 'turn') this.#inputs.set(id, inputOf(scope, ctx as ModelContext | ToolContext))
  }

  #close({ id, duration, self, decision, entered, detail, changed }: SpanEvent['span'], error?: string): void {
    const thrown = error === undefined ? {} : { error }
    const rest = { ...thrown, ...(detail !== undefined && { detail }), ...(changed !== undefined && { changed }) }
    this.#add({ type: 'close', turnId: this.turnId, id, duration, self, decision, entered, ...rest })
  }

  #request(id: number, { model, request }: ModelContext): void {
    const { messages, tools, settings, toolChoice, responseFormat } = request
    const keep = commonPrefix(this.#sent, messages)
    const changedTools = tools === this.#tools ? {} : { tools }
    this.#sent = [...messages]
    this.#tools = tools
    const sent = { model, keep, messages: messages.slice(keep), ...changedTools, settings, toolChoice, responseFormat }
    this.#add({ type: 'request', turnId: this.turnId, id, ...sent })
  }

  #response(id: number, { model, text, reasoning, toolCalls, finishReason, usage }: ModelResponse): void {
    const thought = reasoning === undefined ? {} : { reasoning }
    const turnId = this.turnId
    this.#add({ type: 'response', turnId, id, model, text, ...thought, toolCalls, finishReason, usage: { ...usage } })
    this.#options.costOf(model, usage).then(
      (usd) => usd !== undefined && this.#add({ type: 'cost', turnId, id, usd }),
      () => {},
    )
  }

  #changedInput(id: number, now: CallInput): void {
    const before = this.#inputs.get(id)
    if (before === undefined) return
    this.#inputs.set(id, now)
    if (!this.#options.showsChanges) return
    for (const change of changesBetween(before, now)) this.#add({ type: 'change', turnId: this.turnId, id, ...change })
  }

  #recordState({ span, ctx }: SpanEvent): void {
    const { id, layer } = span
    const { sessionId } = this.#key
    const turnId = this.turnId
    for (const { key, value } of this.#state.changes(ctx.state as Record<string, unknown>)) {
      const reducer = this.#reducer(key)
      const reduced = reducer === undefined ? {} : { reducer }
      this.#add({ type: 'state', turnId, sessionId, id, layer, key, value, ...reduced, at: Date.now() })
    }
  }

  #add(record: InspectRecord): void {
    this.#options.add(this.run, record)
  }
}

/** Whether the first record of a span's end is still right, in almost all cases. */
function isUsual({ decision }: SpanEvent['span']): boolean {
  return decision === 'passed' || decision === 'changed' || decision === 'running'
}
