import {
  defineMiddleware,
  type HookInfo,
  type HookRun,
  messageOf,
  type RunStatus,
  type TurnContext,
  type TypedMiddleware,
} from '@allium/core'
import { explainTurn, turnToText } from './onion-text.ts'
import { outcomeOf } from './outcome.ts'
import { type OnionSpan, Span, type TracedScope } from './span.ts'

export interface OnionOptions {
  /** The last turns that are kept. @default 100 */
  turns?: number
  /** The layer's name. @default 'observe:onion' */
  as?: string
}

/** The layers of one turn: who was entered, for how long, and what each decided. */
export interface OnionTurn {
  turnId: string
  sessionId: string
  turnIndex: number
  /** `running` until the outermost layer has returned. */
  status: RunStatus | 'running'
  /** Why it was stopped, blocked or aborted, or the message of its failure. */
  reason?: string
  duration: number
  /** The outermost layer of the turn, with all the others inside. */
  root: OnionSpan
}

export interface Onion extends TypedMiddleware<{}> {
  /** The turn as data; undefined where it is not kept. */
  timeline(turnId: string): OnionTurn | undefined
  /** In words: who did something to the turn, and how it ended. */
  explain(turnId: string): string
  /** As a tree of layers with their self time and decision. */
  toText(turnId: string): string
  /** The turns that are kept, oldest first. */
  turns(): string[]
}

/**
 * Records each turn as its layers saw it: who was entered, how long it took, and what it decided.
 *
 * For development, and to answer why a turn ended as it did. Register it anywhere: it wraps the hooks of all other
 * layers. It keeps no prompts and no answers but the reasons and error messages, and the last turns only.
 *
 * @example
 * const onion = observe.onion()
 * const { turnId } = await agent.use(onion).run('Hello')
 * console.log(onion.toText(turnId))
 */
export function onion({ turns: kept = 100, as = 'observe:onion' }: OnionOptions = {}): Onion {
  const turns = new Map<string, Recording>()
  /** The span whose next() is on the stack now: what is entered under it is its child. */
  let current: Open | undefined

  const layer = defineMiddleware({
    name: as,
    order: { is: ['observes'] },
    async agent(ctx, next) {
      ctx.on('turn:end', ({ turnId, status, reason, error }) => {
        const turn = turns.get(turnId)
        if (turn === undefined) return
        turn.status = status
        turn.reason = reason ?? (error === undefined ? undefined : messageOf(error))
      })
      await next()
    },
  })

  return Object.assign(layer, {
    wrapHooks,
    turns: () => [...turns.keys()],
    timeline: (turnId: string) => timelineOf(turns.get(turnId)),
    explain: (turnId: string) => explainTurn(turnId, timelineOf(turns.get(turnId))),
    toText: (turnId: string) => turnToText(turnId, timelineOf(turns.get(turnId))),
  })

  function wrapHooks({ layer: name, scope, run }: HookInfo): HookRun {
    if (scope === 'agent' || scope === 'session') return run
    return (ctx, next) => record(ctx as TurnContext, name, scope, run, next)
  }

  /** Runs a hook as it would run alone: what it gives and throws goes through untouched, and no fault of the recording reaches it. */
  function record(
    ctx: TurnContext,
    name: string | undefined,
    scope: TracedScope,
    run: HookRun,
    next: Parameters<HookRun>[1],
  ): unknown {
    const open = quietly(() => enter(ctx, name, scope))
    if (open === undefined) return run(ctx as never, next)
    const { span, turn } = open
    const gave = (value: unknown) => {
      quietly(() => left(open, () => span.gave(outcomeOf(scope, ctx, value), turn.now())))
      return value
    }
    const threw = (error: unknown) => {
      quietly(() => left(open, () => span.threw(error, turn.now())))
      throw error
    }
    let returned: unknown
    try {
      returned = run(ctx as never, (options) => inward(open, ctx, () => next(options)))
    } catch (error) {
      return threw(error)
    }
    return isThenable(returned) ? returned.then(gave, threw) : gave(returned)
  }

  /** next() of a layer, timed; the promise that it gives is the core's own. */
  function inward({ span, turn }: Open, ctx: TurnContext, next: () => Promise<unknown>): Promise<unknown> {
    const stop = quietly(() => span.enters(turn.now))
    const running = within({ span, turn }, next)
    running.then(
      (value) => quietly(() => span.arrived(outcomeOf(span.scope, ctx, value), stop)),
      (error) => quietly(() => span.missed(error, stop)),
    )
    return running
  }

  function within<T>(open: Open, fn: () => T): T {
    const outer = current
    current = open
    try {
      return fn()
    } finally {
      current = outer
    }
  }

  function enter(ctx: TurnContext, name: string | undefined, scope: TracedScope): Open {
    const turn = turns.get(ctx.turnId) ?? begin(ctx)
    const outer = current?.turn === turn ? current.span : turn.core
    const subject = scope === 'turn' ? undefined : subjectOf(ctx)
    const layer = name ?? subject ?? 'loop'
    const span = new Span(layer, scope, name === undefined, turn.now(), outer?.scope === scope ? undefined : subject)
    if (outer === undefined) turn.root = span
    else outer.children.push(span)
    if (scope === 'turn') turn.core = span
    return { span, turn }
  }

  function begin(ctx: TurnContext): Recording {
    const { turnId, sessionId, turnIndex, clock } = ctx
    const now = () => clock.monotonic()
    const turn: Recording = { turnId, sessionId, turnIndex, now, started: now() }
    turns.set(turnId, turn)
    if (turns.size > kept) turns.delete(turns.keys().next().value as string)
    return turn
  }
}

/** A turn while it is recorded. */
interface Recording extends Pick<OnionTurn, 'turnId' | 'sessionId' | 'turnIndex' | 'reason'> {
  now(): number
  readonly started: number
  /** As the run told it, once it has ended. */
  status?: RunStatus
  root?: Span
  /** The innermost span of the turn scope so far: where model and tool calls belong. */
  core?: Span
}

interface Open {
  readonly span: Span
  readonly turn: Recording
}

/** The model or the tool that a call asks for. */
function subjectOf(ctx: object): string | undefined {
  const { model, tool } = ctx as { model?: string; tool?: { name: string } }
  return tool?.name ?? model
}

function timelineOf(turn: Recording | undefined): OnionTurn | undefined {
  if (turn?.root === undefined) return undefined
  const { turnId, sessionId, turnIndex, started, reason, status } = turn
  const root = turn.root.toData(started, turn.now())
  const end = status === undefined ? turn.root.status : { status, ...(reason !== undefined && { reason }) }
  return { turnId, sessionId, turnIndex, ...end, duration: root.start + root.duration, root }
}

/** A layer returned; with the outermost one of the turn, only the data are kept. */
function left({ span, turn }: Open, tell: () => void): void {
  tell()
  if (span === turn.root) span.release()
}

/** A watcher must never break what it watches. */
function quietly<T>(record: () => T): T | undefined {
  try {
    return record()
  } catch {
    return undefined
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
}
