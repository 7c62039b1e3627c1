import type { AgentRun } from '@allium/core'

/** A value whose parts may still be missing. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T

/** The partial JSON of an answer. The answer to a schema of a non-object is wrapped as `value`. */
export type PartialAnswer<O> = O extends readonly unknown[] | string | number | boolean | null
  ? { value?: DeepPartial<O> }
  : DeepPartial<O>

/**
 * Yields the growing answer of a run with the option `output`: after each change, the whole answer so far. It is not validated;
 * `(await run).output` is. A new attempt starts over. Text before the JSON and steps that call tools yield nothing.
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
    const part = await parsePartial(text)
    if (part === undefined || part.json === lastJson) continue
    lastJson = part.json
    yield part.value as PartialAnswer<O>
  }
}

/** Each parse reads the whole text. A long text is parsed only after it has grown by this share, so the total is 64 times its length. */
const share = 64

async function parsePartial(text: string): Promise<{ value: unknown; json: string } | undefined> {
  const jsonStart = text.search(/[[{]/)
  if (jsonStart < 0 || isTooDeep(text)) return undefined
  const { Allow, parse } = await import('partial-json') // on first use, because a bundle with any layer would contain it
  try {
    const value: unknown = parse(text.slice(jsonStart), Allow.STR | Allow.OBJ | Allow.ARR)
    return { value, json: JSON.stringify(value) }
  } catch {
    return undefined
  }
}

/** Whether brackets are nested deeper than any answer needs. The parser becomes slow on such texts. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (const bracket of text.matchAll(/[[{\]}]/g)) {
    depth += bracket[0] === '[' || bracket[0] === '{' ? 1 : -1
    if (depth > 200) return true
  }
  return false
}
