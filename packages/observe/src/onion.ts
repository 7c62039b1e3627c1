import { defineMiddleware, type HookInfo, layerOptions, option, type TypedMiddleware } from '@allium/core'
import { explainTurn } from './onion-explanation.ts'
import { turnToHTML } from './onion-html.ts'
import { type OnionTextOptions, turnToText } from './onion-text.ts'
import type { OnionTurn, SpanEvent } from './onion-turn.ts'
import { Recorder } from './recorder.ts'

export interface OnionOptions {
  /** How many of the last turns are kept. @default 100 */
  maxTurns?: number | undefined
  /** Receives each moment of each span while a turn runs. Its errors are ignored. @default none */
  onSpan?: ((event: SpanEvent) => void) | undefined
  /** The layer's name. @default 'observe:onion' */
  as?: string | undefined
}

export interface Onion extends TypedMiddleware<{}> {
  /** Returns the turn as data; undefined if it is not kept. */
  timeline(turnId: string): OnionTurn | undefined
  /**
   * Explains in words how the turn ended, which layers changed or decided something, and which sub-agent and resumed turns belong to it.
   */
  explain(turnId: string): string
  /** Returns a tree of layers, each with its self time and its decision. */
  toText(turnId: string, options?: OnionTextOptions): string
  /** Returns the same as a standalone HTML page, which loads no resources and runs no scripts. */
  toHTML(turnId: string): string
  /** Returns the ids of the kept turns, oldest first. */
  turns(): string[]
}

const readOptions = layerOptions<OnionOptions>('observe:onion', {
  maxTurns: option.whole(1),
  onSpan: option.fn,
})

/**
 * Records each turn as its layers saw it: which layers were entered, how long each took, and what it decided.
 *
 * Use it in development, and to find out why a turn ended as it did. Register it anywhere: it wraps the hooks of all other layers. It
 * keeps reasons and error messages but no prompts and answers, and only the last turns.
 *
 * @example
 * const onion = observe.onion()
 * const { turnId } = await agent.use(onion).run('Hello')
 * console.log(onion.toText(turnId))
 */
export function onion(options: OnionOptions = {}): Onion {
  const { maxTurns = 100, onSpan, as = 'observe:onion' } = readOptions(options)
  const recorder = new Recorder(maxTurns, onSpan)
  const timeline = (turnId: string) => recorder.timeline(turnId)

  const layer = defineMiddleware({
    name: as,
    // Not `observes`: it keeps no text that an outer layer would have to redact, and it wraps all of them.
    order: { is: ['traces'] },
    async agent(ctx, next) {
      ctx.on('turn:end', (end) => recorder.ended(end))
      await next()
    },
  })

  const explain = (turnId: string) => {
    const otherTurns = recorder.turnIds().flatMap((id) => timeline(id) ?? [])
    const belonging = otherTurns.filter(({ rootTurnId }) => rootTurnId === turnId)
    return explainTurn(turnId, timeline(turnId), belonging)
  }

  const onionLayer: Onion = Object.assign(layer, {
    wrapHooks: (hook: HookInfo) => recorder.wrapHooks(hook),
    timeline,
    turns: () => recorder.turnIds(),
    explain,
    toHTML: (turnId: string) => turnToHTML(turnId, timeline(turnId), explain(turnId)),
    toText: (turnId: string, textOptions?: OnionTextOptions) => turnToText(turnId, timeline(turnId), textOptions),
  })
  // Not enumerable, so that it is not mistaken for a misspelled hook.
  return Object.defineProperty(onionLayer, 'turns', { enumerable: false })
}
