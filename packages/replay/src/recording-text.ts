import { eventText } from '@allium/store'
import type { RecordedTurn } from './recorded-turn.ts'

/**
 * Returns the text of `toJson()`. That writes keys that begin with `$`, as in the schemas of tools, and numbers like Infinity, as in the
 * options of layers, much slower than plain JSON, so each layer and each request is written apart from the rest.
 */
export function recordingText({ layers, requests, ...rest }: RecordedTurn): string {
  const [layerTexts, requestTexts] = [layers, requests].map((list: readonly unknown[]) => list.map(eventText))
  return `${eventText(rest).slice(0, -1)},"layers":[${layerTexts}],"requests":[${requestTexts}]}`
}
