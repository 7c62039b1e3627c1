import type { AgentEvents, HookInfo, HookRun, NextOptions, TurnView } from '@allium/core'
import { rootTurnIdOf } from '@allium/core/context'
import { isThenable } from '@allium/core/internal'
import { ignoreErrors } from './ignore-errors.ts'
import { changesIn, type InputSnapshot, takeInputSnapshot } from './onion-change.ts'
import type { OnionTurn, RecordedSpan, SpanEvent, TracedScope } from './onion-turn.ts'
import { outcomeOf } from './outcome.ts'
import { Span } from './span.ts'
import { TurnRecording } from './turn-recording.ts'

type Next = Parameters<HookRun>[1]

/** A hook of a turn, a model call or a tool call. */
interface TracedHook extends HookInfo {
  readonly scope: TracedScope
}

/** The span of a hook that is running. */
interface OpenSpan {
  readonly span: Span
  readonly turn: TurnRecording
  readonly parent: Span | undefined
  readonly ctx: TurnView
  /** The input of the layer; undefined for the core. */
  readonly inputs: InputSnapshot | undefined
}

/** Records turns by wrapping the hooks of their layers, and keeps the last ones. */
export class Recorder {
  readonly #maxTurns: number
  readonly #onSpan: ((event: SpanEvent) => void) | undefined
  readonly #turns = new Map<string, TurnRecording>()
  #spans = 0
  /** The span whose next() is on the stack; spans that begin under it are its children. */
  #current: OpenSpan | undefined

  constructor(maxTurns: number, onSpan?: (event: SpanEvent) => void) {
    this.#maxTurns = maxTurns
    this.#onSpan = onSpan
  }

  wrapHooks({ layer, scope, run }: HookInfo): HookRun {
    if (scope === 'agent' || scope === 'session') return run
    return (ctx, next) => this.#run({ layer, scope, run }, ctx, next)
  }

  ended(end: AgentEvents['turn:end']): void {
    this.#turns.get(end.turnId)?.ended(end)
  }

  timeline(turnId: string): OnionTurn | undefined {
    return this.#turns.get(turnId)?.timeline()
  }

  turnIds(): string[] {
    return [...this.#turns.keys()]
  }

  /** Runs a hook unchanged. Its result and errors pass through, and errors of the recording do not reach it. */
  #run(hook: TracedHook, ctx: TurnView, next: Next): unknown {
    const open = ignoreErrors(() => this.#open(hook, ctx))
    if (open === undefined) return hook.run(ctx as never, next)
    this.#notify('open', open)
    let returned: unknown
    try {
      returned = hook.run(ctx as never, (options) => this.#runNext(open, next, options))
    } catch (error) {
      return this.#failed(open, error)
    }
    if (!isThenable(returned)) return this.#returned(open, returned)
    return returned.then(
      (value) => this.#returned(open, value),
      (error) => this.#failed(open, error),
    )
  }

  #returned(open: OpenSpan, value: unknown): unknown {
    const { span, ctx } = open
    this.#close(open, (now) => span.returned(outcomeOf(span.scope, ctx, value), now), value)
    return value
  }

  #failed(open: OpenSpan, error: unknown): never {
    this.#close(open, (now) => open.span.failed(error, now))
    throw error
  }

  #close(open: OpenSpan, record: (now: number) => void, value?: unknown): void {
    const { span, turn } = open
    ignoreErrors(() => {
      record(turn.now())
      turn.closed(span)
    })
    this.#notify('close', open, value)
  }

  /** Times next() of a layer and returns core's own promise. It adds few frames, because layers are nested deeply on the stack. */
  #runNext(open: OpenSpan, next: Next, options: NextOptions | undefined): Promise<unknown> {
    const { span, turn, ctx, inputs } = open
    const stop = ignoreErrors(() => span.enterNext(turn.now))
    if (inputs !== undefined) ignoreErrors(() => span.addChanges(changesIn(inputs, takeInputSnapshot(span.scope, ctx))))
    this.#notify('next', open)
    const previous = this.#current
    this.#current = open
    let running: Promise<unknown>
    try {
      running = next(options)
    } finally {
      this.#current = previous
    }
    running.then(
      (value) => {
        ignoreErrors(() => span.nextReturned(outcomeOf(span.scope, ctx, value), turn.showsInherited, stop))
        this.#notify('returned', open, value)
      },
      (error) => {
        ignoreErrors(() => span.nextFailed(error, stop))
        this.#notify('returned', open)
      },
    )
    return running
  }

  #notify(phase: SpanEvent['phase'], { span, parent, turn, ctx }: OpenSpan, value?: unknown): void {
    const onSpan = this.#onSpan
    if (onSpan === undefined) return
    const recorded = (one: Span): RecordedSpan => ({ id: one.id, ...one.fields(turn.started, turn.now()) })
    ignoreErrors(() => {
      const inner = phase === 'returned' ? span.inner() : undefined
      onSpan({
        phase,
        turn: turn.info,
        parent: parent?.id,
        span: recorded(span),
        inner: inner && recorded(inner),
        ctx,
        value,
      })
    })
  }

  #open({ layer, scope }: TracedHook, ctx: TurnView): OpenSpan {
    const turn = this.#turns.get(ctx.turnId) ?? this.#startTurn(ctx, scope)
    // A layer of the agent itself counts for the agent's own turn, an inherited one for the turn of the parent agent.
    if (rootTurnIdOf(ctx) !== ctx.turnId) turn.info.rootTurnId = rootTurnIdOf(ctx)
    const parent = this.#current?.turn === turn ? this.#current.span : turn.core
    const isCore = layer === undefined
    const subject = scope === 'turn' ? undefined : subjectOf(ctx)
    const span = new Span(
      layer ?? subject ?? 'loop',
      scope,
      isCore,
      turn.now(),
      parent?.scope === scope ? undefined : subject,
      ++this.#spans,
    )
    turn.add(span, parent)
    const inputs = isCore ? undefined : ignoreErrors(() => takeInputSnapshot(scope, ctx))
    return { span, turn, parent, ctx, inputs }
  }

  #startTurn(ctx: TurnView, scope: TracedScope): TurnRecording {
    const turn = new TurnRecording(ctx)
    if (scope !== 'turn') this.#startCore(ctx, turn)
    this.#turns.set(ctx.turnId, turn)
    if (this.#turns.size > this.#maxTurns) this.#turns.delete(this.#turns.keys().next().value as string)
    return turn
  }

  /** Begins a sub-agent of which only inherited layers are visible; its calls are recorded below its loop. */
  #startCore(ctx: TurnView, turn: TurnRecording): void {
    const loop = new Span('loop', 'turn', true, turn.started, undefined, ++this.#spans)
    turn.add(loop, undefined)
    turn.showsInherited = true
    ctx.onEnd((end) => {
      turn.ended(end)
      loop.returned({ contents: {} }, turn.now())
      loop.release()
    })
  }
}

/** Returns the model or the tool of a call. */
function subjectOf(ctx: object): string | undefined {
  const { model, tool } = ctx as { model?: string; tool?: { name: string } }
  return tool?.name ?? model
}
