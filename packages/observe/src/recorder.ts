import {
  type AgentEvents,
  type HookInfo,
  type HookRun,
  messageOf,
  type NextOptions,
  type RunStatus,
  type TurnContext,
} from '@allium/core'
import { ignoreErrors } from './ignore-errors.ts'
import { changesIn, type InputSnapshot, takeInputSnapshot } from './onion-change.ts'
import type { OnionTurn, TracedScope } from './onion-turn.ts'
import { outcomeOf } from './outcome.ts'
import { withoutSecrets } from './secrets.ts'
import { Span } from './span.ts'

/** Records turns by wrapping the hooks of their layers; keeps the last ones. */
export function createRecorder(maxTurns: number) {
  const turns = new Map<string, Recording>()
  /** The span whose next() is on the stack now: what is entered under it is its child. */
  let current: OpenSpan | undefined

  return {
    wrapHooks({ layer, scope, run }: HookInfo): HookRun {
      if (scope === 'agent' || scope === 'session') return run
      return (ctx, next) => record(ctx as TurnContext, layer, scope, run, next)
    },
    ended,
    timeline: (turnId: string): OnionTurn | undefined => timelineOf(turns.get(turnId)),
    turnIds: (): string[] => [...turns.keys()],
  }

  /** Runs a hook as it would run alone: what it gives and throws goes through untouched, and no fault of the recording reaches it. */
  function record(
    ctx: TurnContext,
    name: string | undefined,
    scope: TracedScope,
    run: HookRun,
    next: Parameters<HookRun>[1],
  ): unknown {
    const openSpan = ignoreErrors(() => openHookSpan(ctx, name, scope))
    if (openSpan === undefined) return run(ctx as never, next)
    const { span, turn } = openSpan
    const inputs = name === undefined ? undefined : ignoreErrors(() => takeInputSnapshot(scope, ctx))
    const onReturn = (value: unknown) => {
      ignoreErrors(() => closeSpan(openSpan, () => span.returned(outcomeOf(scope, ctx, value), turn.now())))
      return value
    }
    const onThrow = (error: unknown) => {
      ignoreErrors(() => closeSpan(openSpan, () => span.failed(error, turn.now())))
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

  /** next() of a layer, timed; the promise that it gives is the core's own. Few frames: layers stand deep on the stack. */
  function wrapNext(
    openSpan: OpenSpan,
    ctx: TurnContext,
    inputs: InputSnapshot | undefined,
    next: Parameters<HookRun>[1],
    options: NextOptions | undefined,
  ): Promise<unknown> {
    const { span, turn } = openSpan
    const stop = ignoreErrors(() => span.enterNext(turn.now))
    if (inputs !== undefined) ignoreErrors(() => span.addChanges(changesIn(inputs, takeInputSnapshot(span.scope, ctx))))
    const previous = current
    current = openSpan
    let running: Promise<unknown>
    try {
      running = next(options)
    } finally {
      current = previous
    }
    running.then(
      (value) => ignoreErrors(() => span.nextReturned(outcomeOf(span.scope, ctx, value), stop)),
      (error) => ignoreErrors(() => span.nextFailed(error, stop)),
    )
    return running
  }

  function openHookSpan(ctx: TurnContext, name: string | undefined, scope: TracedScope): OpenSpan {
    const turn = turns.get(ctx.turnId) ?? startTurn(ctx, scope)
    // A layer of the agent's own counts for its own turn, an inherited one for that of the agent above.
    if (ctx.rootTurnId !== turn.turnId) turn.rootTurnId = ctx.rootTurnId
    const previous = current?.turn === turn ? current.span : turn.core
    const subject = scope === 'turn' ? undefined : subjectOf(ctx)
    const layer = name ?? subject ?? 'loop'
    const span = new Span(layer, scope, name === undefined, turn.now(), previous?.scope === scope ? undefined : subject)
    if (previous === undefined) turn.top = span
    else previous.children.push(span)
    if (scope === 'turn') turn.core = span
    return { span, turn }
  }

  function startTurn(ctx: TurnContext, scope: TracedScope): Recording {
    const { turnId, sessionId, turnIndex, clock, agent, resumed } = ctx
    const now = () => clock.monotonic()
    const turn: Recording = { turnId, sessionId, turnIndex, agent: agent.name, resumed, now, started: now() }
    if (scope !== 'turn') startCore(ctx, turn)
    turns.set(turnId, turn)
    if (turns.size > maxTurns) turns.delete(turns.keys().next().value as string)
    return turn
  }

  /** A sub-agent of which only inherited layers are seen: its calls stand below its loop. */
  function startCore(ctx: TurnContext, turn: Recording): void {
    const loop = new Span('loop', 'turn', true, turn.started, undefined)
    turn.top = turn.core = loop
    ctx.onEnd((end) => {
      ended(end)
      loop.returned({ contents: {} }, turn.now())
      loop.release()
    })
  }

  /** The run tells how a turn ended: it alone knows of a stop. */
  function ended({ turnId, status, reason, error }: AgentEvents['turn:end']): void {
    const turn = turns.get(turnId)
    if (turn === undefined) return
    turn.status = status
    turn.reason = reason ?? (error === undefined ? undefined : messageOf(error))
  }
}

/** A turn while it is recorded. */
interface Recording extends Pick<OnionTurn, 'turnId' | 'sessionId' | 'turnIndex' | 'reason' | 'agent' | 'rootTurnId'> {
  resumed: boolean
  now(): number
  readonly started: number
  /** As the run told it, once it has ended. */
  status?: RunStatus
  /** The outermost span. */
  top?: Span
  /** The innermost span of the turn scope so far: where model and tool calls belong. */
  core?: Span
}

interface OpenSpan {
  readonly span: Span
  readonly turn: Recording
}

/** The model or the tool that a call asks for. */
function subjectOf(ctx: object): string | undefined {
  const { model, tool } = ctx as { model?: string; tool?: { name: string } }
  return tool?.name ?? model
}

function timelineOf(turn: Recording | undefined): OnionTurn | undefined {
  if (turn?.top === undefined) return undefined
  const { turnId, sessionId, turnIndex, agent, rootTurnId, resumed, started, reason, status, top } = turn
  const spans = top.toData(started, turn.now())
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
    duration: spans.start + spans.duration,
    root: spans,
  }
}

/** A layer returned; with the outermost one of the turn, only the data are kept. */
function closeSpan({ span, turn }: OpenSpan, record: () => void): void {
  record()
  if (span === turn.top) span.release()
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
}
