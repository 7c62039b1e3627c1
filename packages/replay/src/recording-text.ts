import type { ToolDef } from '@allium/core'
import { isPlainObject } from '@allium/core/internal'
import { eventText } from '@allium/store'
import type { RecordedLayer, RecordedRequest, RecordedTurn } from './recorded-turn.ts'

/**
 * Returns the text of `toJson()`. That writes keys that begin with `$`, as in the schemas of tools, and numbers like Infinity, as in the
 * options of layers, much slower than plain JSON, so these parts are written apart from the rest.
 */
export function recordingText({ layers, requests, ...rest }: RecordedTurn): string {
  const parts = { layers: list(layers, layerText), requests: list(requests, requestText) }
  return `{${fieldsOf(rest)},"layers":${parts.layers},"requests":${parts.requests}}`
}

/** A layer keeps the options that it was created with, so their text is written once. */
function layerText({ options, ...rest }: RecordedLayer): string {
  if (options === undefined) return eventText(rest)
  const text = optionTexts.get(options) ?? eventText(options)
  optionTexts.set(options, text)
  return `{${fieldsOf(rest)},"options":${text}}`
}

const optionTexts = new WeakMap<object, string>()

function requestText({ tools, ...rest }: RecordedRequest): string {
  return tools === undefined ? eventText(rest) : `{${fieldsOf(rest)},"tools":${list(tools, toolText)}}`
}

function toolText({ jsonSchema, ...rest }: ToolDef): string {
  if (!isPlainObject(jsonSchema)) return eventText({ ...rest, jsonSchema })
  const fields = Object.entries(jsonSchema).filter(([, value]) => value !== undefined)
  const texts = fields.map(([key, value]) => `${JSON.stringify(key.replace(/^\$/, '$$$$'))}:${eventText(value)}`)
  return `{${fieldsOf(rest)},"jsonSchema":{${texts.join()}}}`
}

function list<T>(items: readonly T[], textOf: (item: T) => string): string {
  return `[${items.map(textOf).join()}]`
}

/** The fields of an object that has some. */
function fieldsOf(value: object): string {
  return eventText(value).slice(1, -1)
}
