import {
  type AgentEvents,
  type HookInfo,
  type HookRun,
  messageOf,
  type NextOptions,
  type RunStatus,
  type TurnView,
} from '@allium/core'
import { isResumed, rootTurnIdOf } from '@allium/core/context'
import { ignoreErrors } from './ignore-errors.ts'
import { changesIn, type InputSnapshot, takeInputSnapshot } from './onion-change.ts'
import type { OnionTurn, SpanEvent, TracedScope } from './onion-turn.ts'
import { outcomeOf } from './outcome.ts'
import { withoutSecrets } from './secrets.ts'
import { Span } from './span.ts'

/** Records turns by wrapping the hooks of their layers, and keeps the last ones. */
export function createRecorder(maxTurns: number, onSpan?: (event: SpanEvent) => void) {
  const turns = new Map<string, Recording>()
  let spans = 0
  /** The span whose next() is on the stack; spans that begin under it are its children. */
  let current: OpenSpan | undefined

  return {
    wrapHooks({ layer, scope, run }: HookInfo): HookRun {
      if (scope === 'agent' || scope === 'session') return run
      return (ctx, next) => record(ctx as TurnView, layer, scope, run, next)
    },
    ended,
    timeline: (turnId: string): OnionTurn | undefined => timelineOf(turns.get(turnId)),
    turnIds: (): string[] => [...turns.keys()],
  }

  /** Runs a hook unchanged. Its result and errors pass through, and errors of the recording do not reach it. */
  function record(
    ctx: TurnView,
    name: string | undefined,
    scope: TracedScope,
    run: HookRun,
    next: Parameters<HookRun>[1],
  ): unknown {
    const openSpan = ignoreErrors(() => openHookSpan(ctx, name, scope))
    if (openSpan === undefined) return run(ctx as never, next)
    const { span, turn } = openSpan
    notify('open', openSpan, ctx)
    const inputs = name === undefined ? undefined : ignoreErrors(() => takeInputSnapshot(scope, ctx))
    const onReturn = (value: unknown) => {
      ignoreErrors(() => closeSpan(openSpan, () => span.returned(outcomeOf(scope, ctx, value), turn.now())))
      notify('close', openSpan, ctx, value)
      return value
    }
    const onThrow = (error: unknown) => {
      ignoreErrors(() => closeSpan(openSpan, () => span.failed(error, turn.now())))
      notify('close', openSpan, ctx)
      throw error
    }
    let returned: unknown
    try {
      returned = run(ctx as never, (options) => wrapNext(openSpan, ctx, inputs, next, options))
    } catch (error) {
      return onThrow(error)
    }
    return isThenable(returned) ? returned.then(onReturn, onThrow) : onReturn(returned)
  }

  /** Times next() of a layer and returns core's own promise. It adds few frames, because layers are nested deeply on the stack. */
  function wrapNext(
    openSpan: OpenSpan,
    ctx: TurnView,
    inputs: InputSnapshot | undefined,
    next: Parameters<HookRun>[1],
    options: NextOptions | undefined,
  ): Promise<unknown> {
    const { span, turn } = openSpan
    const stop = ignoreErrors(() => span.enterNext(turn.now))
    if (inputs !== undefined) ignoreErrors(() => span.addChanges(changesIn(inputs, takeInputSnapshot(span.scope, ctx))))
    notify('next', openSpan, ctx)
    const previous = current
    current = openSpan
    let running: Promise<unknown>
    try {
      running = next(options)
    } finally {
      current = previous
    }
    running.then(
      (value) => {
        ignoreErrors(() => span.nextReturned(outcomeOf(span.scope, ctx, value), turn.showsInherited === true, stop))
        notify('returned', openSpan, ctx, value)
      },
      (error) => {
        ignoreErrors(() => span.nextFailed(error, stop))
        notify('returned', openSpan, ctx)
      },
    )
    return running
  }

  function notify(phase: SpanEvent['phase'], { span, parent, turn }: OpenSpan, ctx: TurnView, value?: unknown): void {
    if (onSpan === undefined) return
    const fieldsOf = (one: Span) => ({ id: one.id, ...one.fields(turn.started, turn.now()) })
    ignoreErrors(() => {
      const inner = phase === 'returned' ? span.inner() : undefined
      onSpan({ phase, turn, parent: parent?.id, span: fieldsOf(span), inner: inner && fieldsOf(inner), ctx, value })
    })
  }

  function openHookSpan(ctx: TurnView, name: string | undefined, scope: TracedScope): OpenSpan {
    const turn = turns.get(ctx.turnId) ?? startTurn(ctx, scope)
    // A layer of the agent itself counts for the agent's own turn, an inherited one for the turn of the parent agent.
    if (rootTurnIdOf(ctx) !== turn.turnId) turn.rootTurnId = rootTurnIdOf(ctx)
    const previous = current?.turn === turn ? current.span : turn.core
    const subject = scope === 'turn' ? undefined : subjectOf(ctx)
    const layer = name ?? subject ?? 'loop'
    const span = new Span(
      layer,
      scope,
      name === undefined,
      turn.now(),
      previous?.scope === scope ? undefined : subject,
      ++spans,
    )
    if (previous === undefined) turn.top = span
    else previous.children.push(span)
    if (scope === 'turn') turn.core = span
    return { span, turn, parent: previous }
  }

  function startTurn(ctx: TurnView, scope: TracedScope): Recording {
    const { turnId, sessionId, turnIndex, clock, agent } = ctx
    const resumed = isResumed(ctx)
    const now = () => clock.monotonic()
    const turn: Recording = { turnId, sessionId, turnIndex, agent: agent.name, resumed, now, started: now() }
    if (scope !== 'turn') startCore(ctx, turn)
    turns.set(turnId, turn)
    if (turns.size > maxTurns) turns.delete(turns.keys().next().value as string)
    return turn
  }

  /** Begins a sub-agent of which only inherited layers are visible; its calls are recorded below its loop. */
  function startCore(ctx: TurnView, turn: Recording): void {
    const loop = new Span('loop', 'turn', true, turn.started, undefined, ++spans)
    turn.top = turn.core = loop
    turn.showsInherited = true
    ctx.onEnd((end) => {
      ended(end)
      loop.returned({ contents: {} }, turn.now())
      loop.release()
    })
  }

  /** Takes the outcome of a turn from the run, because only the run knows of a stop. */
  function ended({ turnId, status, reason, error }: AgentEvents['turn:end']): void {
    const turn = turns.get(turnId)
    if (turn === undefined) return
    turn.status = status
    turn.reason = reason ?? (error === undefined ? undefined : messageOf(error))
  }
}

/** A turn that is being recorded. */
interface Recording extends Pick<OnionTurn, 'turnId' | 'sessionId' | 'turnIndex' | 'reason' | 'agent' | 'rootTurnId'> {
  resumed: boolean
  /** Only the layers that a sub-agent inherited are recorded, and not its own. */
  showsInherited?: true
  now(): number
  readonly started: number
  /** The status from the run, once it has ended. */
  status?: RunStatus
  /** The outermost span. */
  top?: Span
  /** The innermost span of the turn scope so far, which contains model and tool calls. */
  core?: Span
}

interface OpenSpan {
  readonly span: Span
  readonly turn: Recording
  readonly parent: Span | undefined
}

/** Returns the model or the tool of a call. */
function subjectOf(ctx: object): string | undefined {
  const { model, tool } = ctx as { model?: string; tool?: { name: string } }
  return tool?.name ?? model
}

function timelineOf(turn: Recording | undefined): OnionTurn | undefined {
  if (turn?.top === undefined) return undefined
  const { turnId, sessionId, turnIndex, agent, rootTurnId, resumed, started, reason, status, top } = turn
  const root = top.toData(started, turn.now())
  const end =
    status === undefined ? top.status : { status, ...(reason !== undefined && { reason: withoutSecrets(reason) }) }
  return {
    turnId,
    agent,
    ...(rootTurnId !== undefined && { rootTurnId }),
    ...(resumed && { resumed }),
    sessionId,
    turnIndex,
    ...end,
    duration: root.start + root.duration,
    root,
  }
}

/** Records that a layer returned. With the outermost layer of the turn, only the data is kept. */
function closeSpan({ span, turn }: OpenSpan, record: () => void): void {
  record()
  if (span === turn.top) span.release()
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
}
