import { defineMiddleware, layerOptions, option, type TypedMiddleware } from '@allium/core'
import { explainTurn } from './onion-explanation.ts'
import { turnToHTML } from './onion-html.ts'
import { type OnionTextOptions, turnToText } from './onion-text.ts'
import type { OnionTurn } from './onion-turn.ts'
import { createRecorder } from './recorder.ts'

export interface OnionOptions {
  /** The last turns that are kept. @default 100 */
  turns?: number | undefined
  /** The layer's name. @default 'observe:onion' */
  as?: string | undefined
}

export interface Onion extends TypedMiddleware<{}> {
  /** The turn as data; undefined where it is not kept. */
  timeline(turnId: string): OnionTurn | undefined
  /** In words: how the turn ended, who changed or decided what, and the turns of sub-agents and resumed ones that belong to it. */
  explain(turnId: string): string
  /** As a tree of layers; beside each the time that it took itself, and what it decided. */
  toText(turnId: string, options?: OnionTextOptions): string
  /** The same as a page of HTML, to keep or to send: it loads nothing, and runs nothing. */
  toHTML(turnId: string): string
  /** The turns that are kept, oldest first. */
  turns(): string[]
}

const readOptions = layerOptions<OnionOptions>('observe:onion', {
  turns: option.whole(1),
})

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
export function onion(options: OnionOptions = {}): Onion {
  const { turns = 100, as = 'observe:onion' } = readOptions(options)
  const { wrapHooks, ended, timeline, turnIds } = createRecorder(turns)

  const layer = defineMiddleware({
    name: as,
    // Not `observes`: it keeps no text that a layer outside it would have to redact, and stands around all of them.
    order: { is: ['traces'] },
    async agent(ctx, next) {
      ctx.on('turn:end', ended)
      await next()
    },
  })

  const explain = (turnId: string) => {
    const otherTurns = turnIds().flatMap((id) => timeline(id) ?? [])
    const belonging = otherTurns.filter(({ rootTurnId }) => rootTurnId === turnId)
    return explainTurn(turnId, timeline(turnId), belonging)
  }

  const onionLayer: Onion = Object.assign(layer, {
    wrapHooks,
    timeline,
    turns: turnIds,
    explain,
    toHTML: (turnId: string) => turnToHTML(turnId, timeline(turnId), explain(turnId)),
    toText: (turnId: string, options?: OnionTextOptions) => turnToText(turnId, timeline(turnId), options),
  })
  // Not enumerable: one that stands in the place of a hook would be told from it by nothing.
  return Object.defineProperty(onionLayer, 'turns', { enumerable: false })
}
