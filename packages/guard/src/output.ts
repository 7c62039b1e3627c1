import {
  type ContentChunk,
  defineMiddleware,
  layerOptions,
  type ModelContext,
  option,
  type TypedMiddleware,
} from '@allium/core'
import { decide, type FailureOptions, failing, failureOptions, work } from './decide.ts'
import { dropMetadata } from './stream-filter.ts'
import { unknownKind } from './unknown-kind.ts'
import { type Check, heed, once } from './verdict.ts'

export interface OutputOptions extends FailureOptions {
  /** Says of a text whether it may pass. */
  check: Check
  /** The layer's name. @default 'guard:output' */
  as?: string | undefined
}

const readOptions = layerOptions<OutputOptions>('guard:output', {
  check: option.required(option.fn, 'a function that says of a text whether it may pass'),
  ...failureOptions,
})

/**
 * Asks a function about what the model answers before anybody reads it: it lets it through, blocks it, or puts another text
 * in its place.
 *
 * It gets each answer whole, that of each step, and what the model thinks likewise; nothing of it leaves before, and no tool
 * runs that the answer asks for. For words and patterns, `guard.content` lets the stream flow. It fails closed: a
 * check that throws or takes too long blocks.
 *
 * @example
 * agent.use(guard.output((text) => !text.includes(systemPrompt)))
 */
export function output(given: Check | OutputOptions): TypedMiddleware<{}> {
  const { check, as = 'guard:output', ...failure } = readOptions(typeof given === 'function' ? { check: given } : given)
  const guard = failing(as, failure)

  return defineMiddleware({
    name: as,
    order: { is: ['blocks'] },
    inherit: true,
    async model(ctx, next) {
      const changed = new Set<string>()
      ctx.pipe(async function* (stream, end) {
        const chunks: ContentChunk[] = []
        for await (const chunk of stream) chunks.push(chunk)
        if ('error' in (await end())) return // cut, and nobody gets it
        const text = await askAbout(ctx, chunks, 'text-delta')
        const thought = await askAbout(ctx, chunks, 'reasoning-delta')
        if (text !== undefined) changed.add('text')
        if (thought !== undefined) changed.add('reasoning')
        yield* replaced(chunks, { 'text-delta': text, 'reasoning-delta': thought })
      })
      const response = await next()
      response.message = dropMetadata(response.message, changed)
      return response
    },
  })

  async function askAbout(
    ctx: ModelContext,
    chunks: readonly ContentChunk[],
    kind: 'text-delta' | 'reasoning-delta',
  ): Promise<string | undefined> {
    const text = await work(ctx, guard, () => chunks.map((chunk) => textOf(chunk, kind)).join(''))
    if (text === undefined || text === '') return undefined
    const verdict = await decide(ctx, guard, (call) => check(text, ctx, call.signal))
    return heed(ctx, verdict, { layer: as, where: 'output', reply: guard.reply, code: 'guard.output' })
  }
}

function textOf(chunk: ContentChunk, kind: 'text-delta' | 'reasoning-delta'): string {
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return chunk.type === kind ? chunk.delta : ''
    case 'tool-input-start':
    case 'tool-input-delta':
    case 'tool-input-end':
    case 'tool-result':
    case 'file':
    case 'source':
    case 'custom':
      return ''
    default:
      return unknownKind(chunk, 'chunk')
  }
}

/** The chunks with other texts: each in the place of the first of its kind. */
function* replaced(
  chunks: readonly ContentChunk[],
  texts: Record<'text-delta' | 'reasoning-delta', string | undefined>,
): Generator<ContentChunk> {
  const put = {
    'text-delta': once(texts['text-delta'] ?? ''),
    'reasoning-delta': once(texts['reasoning-delta'] ?? ''),
  }
  for (const chunk of chunks) {
    const isText = chunk.type === 'text-delta' || chunk.type === 'reasoning-delta'
    if (!isText || texts[chunk.type] === undefined) {
      yield chunk
      continue
    }
    const delta = put[chunk.type](chunk.delta)
    if (delta !== '') yield { type: chunk.type, delta, ...(chunk.id !== undefined && { id: chunk.id }) }
  }
}
