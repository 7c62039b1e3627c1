import type { AgentRun } from '@allium/core'
import { Allow, parse } from 'partial-json'

/** A value of which some parts may not be there yet. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T

/** What the JSON of an answer holds so far: a schema of no object stands in one as `value`. */
export type PartialAnswer<O> = O extends readonly unknown[] | string | number | boolean | null
  ? { value?: DeepPartial<O> }
  : DeepPartial<O>

/**
 * The answer of a run with the option `output` as it grows: each time more of it has come, all of it so far. It is not
 * checked; `(await run).output` is. A new attempt begins again. Text before the JSON, and steps that call tools, give nothing.
 *
 * @example
 * const run = agent.run('Plan a trip', { output: trip })
 * for await (const part of objectStream(run)) render(part)
 * const { output } = await run
 */
export async function* objectStream<S, O>(run: AgentRun<S, O>): AsyncGenerator<PartialAnswer<O>> {
  let text = ''
  let consumedLength = 0
  let lastJson: string | undefined
  for await (const event of run) {
    if (event.type === 'step:start' || event.type === 'model:reset') {
      text = ''
      consumedLength = 0
    }
    if (event.type === 'text-delta') text += event.delta
    if (
      event.type !== 'finish' &&
      (event.type !== 'text-delta' || text.length - consumedLength <= consumedLength / share)
    )
      continue
    consumedLength = text.length
    const part = parsePartial(text)
    if (part === undefined || part.json === lastJson) continue
    lastJson = part.json
    yield part.value as PartialAnswer<O>
  }
}

/** All of the text is read each time, so a long one is read only when it has grown by this share: 64 times its length in all. */
const share = 64

function parsePartial(text: string): { value: unknown; json: string } | undefined {
  const jsonStart = text.search(/[[{]/)
  if (jsonStart < 0 || isTooDeep(text)) return undefined
  try {
    const value: unknown = parse(text.slice(jsonStart), Allow.STR | Allow.OBJ | Allow.ARR)
    return { value, json: JSON.stringify(value) }
  } catch {
    return undefined
  }
}

/** Whether brackets stand deeper in each other than any answer needs: the parser takes ever longer over such a text. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (const bracket of text.matchAll(/[[{\]}]/g)) {
    depth += bracket[0] === '[' || bracket[0] === '{' ? 1 : -1
    if (depth > 200) return true
  }
  return false
}
